package artifact_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/github/artifact"
)

func read(data []byte, o artifact.Options) ([]artifact.File, error) {
	return artifact.Read(bytes.NewReader(data), int64(len(data)), o)
}

// private is a folder that [artifact.Extract] takes.
func private(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReadKeepsWhatIsExpected(t *testing.T) {
	t.Parallel()
	data := archive(
		item{name: "h100/", stored: true, attributes: 0o040755<<16 | 0x10},
		item{name: "h100/run.json", data: `{"a": 1}`, attributes: 0o100644 << 16},
		item{name: "h100/1-of-2/run.json", data: `{"b": 2}`, descriptor: keep},
		item{name: "report.md", data: "text", stored: true, extra: concat(number(2, 0x5455), number(2, 5), []byte("\x01time"))},
	)
	want := []artifact.File{{Name: "h100/run.json", Data: []byte(`{"a": 1}`)}, {Name: "h100/1-of-2/run.json", Data: []byte(`{"b": 2}`)}, {Name: "report.md", Data: []byte("text")}}
	o := artifact.Options{Names: []string{"report.md"}}
	got, err := read(data, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Read() (-want +got):\n%s", diff)
	}
	dir := private(t)
	names, err := artifact.Extract(bytes.NewReader(data), int64(len(data)), dir, o)
	if err != nil || len(names) != len(want) {
		t.Fatalf("Extract() = %q, %v, want %d names", names, err, len(want))
	}
	for i, f := range want {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Name)))
		if err != nil || names[i] != f.Name || string(text) != string(f.Data) {
			t.Errorf("%s, extracted as %s, holds %q, %v, want %q", f.Name, names[i], text, err, f.Data)
		}
	}
	// What is there is never replaced, and what was made before that shows is removed.
	other := private(t)
	if err := os.WriteFile(filepath.Join(other, "report.md"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := artifact.Extract(bytes.NewReader(data), int64(len(data)), other, o); err == nil || !strings.Contains(err.Error(), "name an empty folder") {
		t.Errorf("Extract() over a file = %v, want it refused", err)
	}
	if diff := cmp.Diff([]string{"report.md"}, below(t, other)); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
}

// TestReadTakesOtherWriters: what common writers make is accepted, deflated in
// a stream as upload-artifact does, and stored.
func TestReadTakesOtherWriters(t *testing.T) {
	t.Parallel()
	want := strings.Repeat(`{"schema": 1}`, 5000)
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		h := &zip.FileHeader{Name: "run.json", Method: method}
		h.SetMode(0o644)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(f, want)
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := read(b.Bytes(), artifact.Options{})
		if err != nil || len(got) != 1 || string(got[0].Data) != want {
			t.Errorf("method %d: %d files, %v, want the document", method, len(got), err)
		}
	}
}

// below lists what is in a folder.
func below(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			names = append(names, strings.TrimPrefix(path, dir+string(filepath.Separator)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestExtractWantsAPrivateFolder(t *testing.T) {
	t.Parallel()
	dir := private(t)
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o755); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	data := runOnly("{}")
	for path, want := range map[string]string{open: "mode 0700", link: "is not a folder", filepath.Join(dir, "none"): "make the folder first"} {
		if _, err := artifact.Extract(bytes.NewReader(data), int64(len(data)), path, artifact.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Extract(%s) = %v, want an error with %q", filepath.Base(path), err, want)
		}
	}
}

// failing is a disk that breaks after some bytes.
type failing struct {
	*bytes.Reader
	at int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off <= f.at && f.at < off+int64(len(p)) {
		return 0, errors.New("broken")
	}
	return f.Reader.ReadAt(p, off)
}

// TestReadErrorsAreNoRefusals: a download that breaks says nothing about the
// archive.
func TestReadErrorsAreNoRefusals(t *testing.T) {
	t.Parallel()
	data := runOnly(`{"schema": 1}`)
	for at := range data {
		_, err := artifact.Read(failing{bytes.NewReader(data), int64(at)}, int64(len(data)), artifact.Options{})
		if _, refused := errors.AsType[artifact.Refusal](err); err == nil || refused || !strings.Contains(err.Error(), "download it again") {
			t.Errorf("byte %d cannot be read: %v, want an error that is not a refusal", at, err)
		}
	}
}
