package formats

import (
	"encoding/json"
	"errors"
	"slices"
)

// saved returns the objects of one format that stand in data, behind a log too.
// Where there are none, the error is of JSON that could not be read.
func saved(data []byte, is func(object) bool) ([]object, error) {
	found, broken, err := objects(data)
	if err != nil {
		return nil, err
	}
	if found = slices.DeleteFunc(found, func(o object) bool { return !is(o) }); len(found) == 0 {
		return nil, broken
	}
	return found, nil
}

// remake decodes the members of an object by their types.
func remake(o object, into any) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// cmpError is err, or an error with the text where err is nil.
func cmpError(err error, text string) error {
	if err != nil {
		return err
	}
	return errors.New(text)
}
