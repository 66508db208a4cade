package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text"
)

// maxLine bounds a line or a conversation, in bytes: the longest prompt with
// every character escaped, and something beside it.
const maxLine = 8 * MaxPromptBytes

// lines calls add with the text of each line that is not blank.
func (c *collector) lines(r io.Reader, add func([]byte) error) error {
	reader := bufio.NewReaderSize(r, 1<<16)
	var line []byte
	for n := 1; !c.full(); n++ {
		var err error
		line, err = readLine(reader, line[:0])
		if err != nil && err != io.EOF {
			return fmt.Errorf(":%d: %w", n, err)
		}
		text := bytes.TrimSpace(line)
		if n == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if len(text) > 0 {
			if err := add(text); err != nil {
				return fmt.Errorf(":%d: %w", n, err)
			}
		}
		if err == io.EOF {
			return nil
		}
	}
	return nil
}

// readLine appends a line to buf. It returns io.EOF with the last one.
func readLine(r *bufio.Reader, buf []byte) ([]byte, error) {
	for {
		chunk, err := r.ReadSlice('\n')
		buf = append(buf, chunk...)
		switch {
		case len(buf) > maxLine:
			return nil, fmt.Errorf("the line has more than %d bytes: write one prompt per line, and shorter ones", maxLine)
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && err != io.EOF && err != errFileSize:
			return nil, fmt.Errorf("%w: see whether the disk still answers", err)
		}
		return buf, err
	}
}

// objects reads each line as a JSON object.
func objects(add func(object) error) func([]byte) error {
	return func(text []byte) error {
		if text[0] == '[' {
			return errors.New("the line is a list: write one object per line, or kind: sharegpt for a file of conversations")
		}
		o, err := decode(text)
		if err != nil {
			return err
		}
		return add(o)
	}
}

// object is a JSON object whose keys are compared exactly: encoding/json
// would take Prompt for prompt.
type object map[string]json.RawMessage

func decode(text []byte) (o object, err error) {
	if !utf8.Valid(text) { // encoding/json would replace characters silently
		return nil, errors.New("the text is not valid UTF-8: save the file as UTF-8")
	}
	if err := json.Unmarshal(text, &o); err != nil || o == nil {
		return nil, fmt.Errorf("the text %s is not a JSON object%s: write one object per line", excerpt(text), reason(err))
	}
	return o, nil
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return " (" + text.Line(err.Error(), 40) + ")"
}

// has reports whether the object has a value under the key; null is none.
func (o object) has(key string) bool { return len(o[key]) > 0 && string(o[key]) != "null" }

func (o object) text(key string) (s string, err error) {
	if err := json.Unmarshal(o[key], &s); err != nil {
		return "", fmt.Errorf("%s is %s and not text: write it in quotes; parts other than text are not sent", key, excerpt(o[key]))
	}
	return s, nil
}

// count returns a whole number from 1 to limit.
func (o object) count(key string, limit int) (n int, err error) {
	if !o.has(key) {
		return 0, fmt.Errorf("%s is missing: write a whole number from 1 to %d", key, limit)
	}
	if err := json.Unmarshal(o[key], &n); err != nil || n < 1 || n > limit {
		return 0, fmt.Errorf("%s is %s: write a whole number from 1 to %d", key, excerpt(o[key]), limit)
	}
	return n, nil
}

func (o object) number(key string) (v float64, err error) {
	if !o.has(key) {
		return 0, fmt.Errorf("%s is missing: write a number", key)
	}
	if err := json.Unmarshal(o[key], &v); err != nil || math.Abs(v) > 1e15 {
		return 0, fmt.Errorf("%s is %s: write a number up to 1e15", key, excerpt(o[key]))
	}
	return v, nil
}

// excerpt quotes the beginning of a part of a file.
func excerpt(part []byte) string { return text.Quote(string(part), 40) }
