package formats

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/text"
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

// onlyResult reads the one object of a format into a value, and reports whether there is one.
func onlyResult(data []byte, tool string, is func(object) bool, into any) (found bool, err error) {
	all, err := saved(data, is)
	switch {
	case err != nil || len(all) == 0:
		return false, err
	case len(all) > 1:
		return false, fmt.Errorf("the output holds %d results of %s: give each a file of its own", len(all), tool)
	}
	return true, unreadable("the result", tool, remake(all[0], into))
}

// unreadable is the error of a part of a result that cannot be read, nil for a nil err.
func unreadable(part, of string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s of %s: %w: see whether the file is whole", part, text.Quote(of, 80), err)
}
