package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text"
)

// Open opens the file that a [Spec] names. Errors for a missing file should
// satisfy errors.Is(err, fs.ErrNotExist).
type Open func(name string) (io.ReadCloser, error)

// Folder opens regular files; relative names are those of dir.
func Folder(dir string) Open {
	return func(name string) (io.ReadCloser, error) {
		path := filepath.FromSlash(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
			return nil, errors.New("is not a regular file")
		}
		return os.Open(path)
	}
}

// Load returns the dataset that spec describes. It opens spec.Path for the
// kinds that read a file, and nothing for the others, for which open may be
// nil. A file that is missing, malformed, empty or shorter than spec.N is an
// error that names the file, the line and what to do; nothing else is ever
// taken in its place. A missing one satisfies errors.Is(err, fs.ErrNotExist).
func Load(spec Spec, open Open) (*Dataset, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	spec = spec.withDefaults()
	d := &Dataset{ID: spec.id(), kind: spec.Kind, seed: uint64(spec.Seed), talk: spec.Conversation, output: spec.Output, unit: spec.Unit}
	if !spec.fromFile() {
		if err := d.generate(spec); err != nil {
			return nil, fmt.Errorf("dataset: %w", err)
		}
		d.seal()
		return d, nil
	}
	if open == nil {
		open = Folder(".")
	}
	if err := d.read(spec, open); err != nil {
		return nil, err
	}
	d.seal()
	return d, nil
}

func (s Spec) id() string {
	switch {
	case s.Kind == Builtin:
		return string(s.Kind) + ":" + s.Set
	case s.fromFile():
		return string(s.Kind) + ":" + filepath.Base(filepath.FromSlash(s.Path))
	}
	return string(s.Kind)
}

// read fills d from the file.
func (d *Dataset) read(spec Spec, open Open) error {
	f, err := open(spec.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("dataset %s: %w: put the file there or correct path; no other dataset is taken instead", spec.Path, err)
	case err != nil:
		return fmt.Errorf("dataset %s: %w: correct path or the file's permissions", spec.Path, err)
	}
	defer f.Close()
	c := &collector{d: d, spec: spec}
	limited := &limitedReader{r: f, left: maxFileBytes}
	switch spec.Kind {
	case JSONL:
		err = c.lines(limited, objects(c.jsonl))
	case Trace:
		err = c.lines(limited, c.traceLine())
	case ShareGPT:
		err = c.shareGPT(limited)
	}
	if err == nil {
		err = c.enough()
	}
	if err != nil {
		return fmt.Errorf("dataset %s%w", spec.Path, err)
	}
	return nil
}

// limitedReader fails where io.LimitReader ends a file without a word.
type limitedReader struct {
	r    io.Reader
	left int64
}

var errFileSize = fmt.Errorf("the file is larger than %d bytes: split it", int64(maxFileBytes))

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errFileSize
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// collector adds the prompts of a file to a dataset. Its errors begin with
// what follows the file's name: ": " or ":LINE: ".
type collector struct {
	d     *Dataset
	spec  Spec
	bytes int // of all texts
	words int // of all generated texts
	start float64
	last  float64 // time of the line before
}

// full reports that there are as many prompts as were asked for.
func (c *collector) full() bool { return c.spec.N > 0 && len(c.d.items) == c.spec.N }

func (c *collector) enough() error {
	have := len(c.d.items)
	switch {
	case have == 0:
		return errors.New(": the file holds no prompt: see whether it is of the kind that the dataset names")
	case have < c.spec.N:
		return fmt.Errorf(": the file holds %s and n asks for %d: write n: %d, or 0 for all of a file",
			text.Plural(have, "prompt"), c.spec.N, have)
	}
	return nil
}

// add takes a prompt whose text or messages are given.
func (c *collector) add(it item) error {
	texts := make([]string, 0, 2)
	for _, p := range it.parts {
		texts = append(texts, p.text)
		c.words += p.words
	}
	for _, m := range it.messages {
		texts = append(texts, m.Content)
	}
	for _, t := range it.later {
		texts = append(texts, t.text)
	}
	size := 0
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return errors.New("the prompt is not valid UTF-8: save the file as UTF-8")
		}
		size += len(t)
	}
	c.bytes += size
	switch {
	case size > MaxPromptBytes:
		return fmt.Errorf("the prompt has %d bytes and may have %d: shorten it", size, MaxPromptBytes)
	case c.bytes > maxTextBytes:
		return fmt.Errorf("the prompts so far have over %d bytes: write n: %d or less", maxTextBytes, len(c.d.items))
	case c.words > maxTotalWords:
		return fmt.Errorf("the prompts so far have over %d tokens: write n: %d or less", maxTotalWords, len(c.d.items))
	case len(c.d.items) == MaxPrompts:
		return fmt.Errorf("the file holds more than %d prompts: write n: %d or less", MaxPrompts, MaxPrompts)
	}
	if it.output == 0 {
		it.output = c.spec.Output.draw(newSource(c.d.seed, outputLengths, uint64(len(c.d.items))), MaxOutput)
	}
	c.d.items = append(c.d.items, it)
	return nil
}
