package artifact_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/github/artifact"
)

// FuzzRead feeds bytes of strangers: nothing panics, what is accepted keeps to
// the limits, and archive/zip, which finds its entries another way, reads the
// same files from it.
func FuzzRead(f *testing.F) {
	for _, c := range hostile {
		if data := c.build(); len(data) < 4<<10 {
			f.Add(data)
		}
	}
	f.Add(archive(item{name: "a/", stored: true}, item{name: "a/run.json", data: run, descriptor: keep}, item{name: "run.json", data: run, stored: true}))
	limits := artifact.Limits{Total: 1 << 16, File: 1 << 15, Entries: 8}
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := read(data, artifact.Options{Limits: limits})
		if err != nil {
			if _, ok := errors.AsType[artifact.Refusal](err); !ok || strings.ContainsAny(err.Error(), "\n\r\x1b") || files != nil {
				t.Errorf("Read() = %d files, %v, want a refusal of one line", len(files), err)
			}
			return
		}
		theirs := unzip(t, data)
		total := 0
		for _, file := range files {
			if total += len(file.Data); total > 1<<16 || len(file.Data) > 1<<15 {
				t.Errorf("%d bytes in all, %d of %s, are over the limits", total, len(file.Data), file.Name)
			}
			if got, ok := theirs[file.Name]; !ok || got != string(file.Data) {
				t.Errorf("%s is %q, and %q to archive/zip", file.Name, file.Data, got)
			}
		}
		if len(theirs) != len(files) {
			t.Errorf("%d files, and %d to archive/zip", len(files), len(theirs))
		}
	})
}

// unzip reads the files of an archive that was accepted.
func unzip(t *testing.T, data []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("archive/zip refuses what was accepted: %v", err)
	}
	files := map[string]string{}
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		contents, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(contents)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}
