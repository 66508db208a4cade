package flashinfer

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// blob is a tensor file: where it is, and the digest of its content.
type blob struct {
	root, name string
	sum        [32]byte
	place      Place // of a workload that names it
}

// takeBlob notes a tensor file that a workload names. One that is absent is
// counted: datasets are used without those that they do not need.
func (m *merger) takeBlob(dir *os.Root, ds *Dataset, w *Trace, in Input) {
	name := path.Clean(strings.TrimPrefix(in.Path, "./"))
	known, twice := m.blobs[name]
	if twice && known.root == ds.Root {
		return
	}
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains([]string{definitionsFolder, solutionsFolder, workloadsFolder, tracesFolder}, first) {
		m.problems = append(m.problems,
			Problem{w.Place, "", fmt.Sprintf("the tensor file %s is among the dataset's own files; move it below blob/", quote(in.Path))})
		return
	}
	sum, err := digestFile(dir, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.absent[name] = true
	case err != nil:
		m.problems = append(m.problems, Problem{
			w.Place,
			"",
			fmt.Sprintf("the file %s cannot be read (%s); put an ordinary file there", quote(in.Path), plain(cause(err))),
		})
	case twice && known.sum != sum:
		m.problems = append(m.problems, Problem{
			w.Place,
			"",
			fmt.Sprintf("the file %s is another one than that of %s; rename one of the two", quote(in.Path), known.place),
		})
	case !twice:
		m.blobs[name] = blob{ds.Root, name, sum, w.Place}
	}
}

func (m *merger) warnAbsent() {
	for name := range m.blobs {
		delete(m.absent, name)
	}
	if len(m.absent) > 0 {
		m.Warnings = append(m.Warnings, fmt.Sprintf(
			"%d tensor files that workloads name are absent and were not copied: fetch them, such as by git lfs pull, before such a workload is measured",
			len(m.absent)))
	}
}

func digestFile(dir *os.Root, name string) (sum [32]byte, err error) {
	in, _, err := openFile(dir, filepath.FromSlash(name))
	if err != nil {
		return sum, err
	}
	defer in.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, in); err != nil {
		return sum, err
	}
	return [32]byte(hash.Sum(nil)), nil
}

// writeBlobs copies the tensor files.
func (m *merger) writeBlobs(dir string) error {
	for _, b := range m.blobs {
		if err := b.copy(dir); err != nil {
			return fmt.Errorf("copy the tensor file %s: %w; free space, or name another folder", quote(b.name), err)
		}
		m.Blobs++
	}
	return nil
}

func (b *blob) copy(dir string) error {
	root, err := os.OpenRoot(b.root)
	if err != nil {
		return err
	}
	defer root.Close()
	in, _, err := openFile(root, filepath.FromSlash(b.name))
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.WriteFrom(filepath.Join(dir, filepath.FromSlash(b.name)), func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// digestLine returns the SHA-256 of a line of JSON without spaces.
func digestLine(line []byte) [32]byte {
	var b bytes.Buffer
	if json.Compact(&b, line) != nil {
		return sha256.Sum256(line)
	}
	return sha256.Sum256(b.Bytes())
}

// stale returns what of a trace's case now has another content than when it was
// measured: "definition", "solution" or "workload". Names that the dataset does not
// have are no contradiction, and traces of other tools have axes only.
func (ds *Dataset) stale(t *Trace) string {
	d, s, w := ds.Definition(t.Definition), ds.Solution(t.Solution), ds.Workload(t.Definition, t.Workload.UUID)
	key := t.Case().Key
	switch {
	case d != nil && key.Definition != "" && key.Definition != d.Hash():
		return "definition"
	case s != nil && (s.Definition != t.Definition || key.Solution != "" && key.Solution != s.Hash()):
		return "solution"
	case w != nil && (key.Workload != "" && key.Workload != w.Workload.Hash() || !maps.Equal(w.Workload.Axes, t.Workload.Axes)):
		return "workload"
	}
	return ""
}
