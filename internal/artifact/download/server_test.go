package download_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/artifact/download"
)

const (
	token  = "hf_thisIsNoRealToken"
	commit = "0123456789abcdef0123456789abcdef01234567"
	model  = "owner/model"
)

// content returns bytes that no shift of them resembles.
func content(seed uint64, size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(data) // it never fails
	return data
}

// A fault answers in place of the server; data is the file's, nil for a listing.
type fault func(w http.ResponseWriter, r *http.Request, data []byte)

// server plays a hub and its content delivery network, two origins. Large files
// (names with "safetensors") are redirected to the second one, as the hub does.
type server struct {
	t        testing.TB
	hub, cdn *httptest.Server
	mu       sync.Mutex
	commit   string
	files    map[string][]byte
	listing  func(siblings []map[string]any) any // changes the listing
	hubFault []fault                             // each is used once, in order
	cdnFault []fault
	requests []string // "hub /path bytes=3- If-Range"
	leaked   []string // tokens that reached another origin
}

func newServer(t testing.TB) *server {
	s := &server{t: t, commit: commit, files: map[string][]byte{
		"config.json":                      content(1, 700),
		"model-00001-of-00002.safetensors": content(2, 300_000),
		"sub folder/a+b%20#?ü.json":        content(3, 50),
		"empty.txt":                        nil,
	}}
	s.cdn = httptest.NewServer(http.HandlerFunc(s.serveCDN))
	s.hub = httptest.NewServer(http.HandlerFunc(s.serveHub))
	t.Cleanup(func() { s.hub.Close(); s.cdn.Close() })
	return s
}

// fail sets what the next requests meet.
func (s *server) fail(hub, cdn []fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hubFault, s.cdnFault = hub, cdn
}

// client is one that does not wait.
func (s *server) client(dir string) *download.Client {
	return &download.Client{Endpoint: s.hub.URL, Token: token, Dir: dir, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

func digest(name string, data []byte) string {
	if large(name) {
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:])
	}
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...))
	return hex.EncodeToString(sum[:])
}

func large(name string) bool { return strings.Contains(name, "safetensors") }

func (s *server) note(server string, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := server + " " + r.URL.Path
	if r.Header.Get("Range") != "" {
		line += " " + r.Header.Get("Range")
	}
	if r.Header.Get("If-Range") != "" {
		line += " If-Range"
	}
	s.requests = append(s.requests, line)
	if server == "hub" && r.Header.Get("Authorization") != "Bearer "+token || server == "cdn" && r.Header.Get("Authorization")+r.Header.Get("Referer") != "" {
		s.leaked = append(s.leaked, line+" with "+r.Header.Get("Authorization"))
	}
}

// take returns the requests since the last call.
func (s *server) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}

func (s *server) next(list *[]fault) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(*list) == 0 {
		return nil
	}
	f := (*list)[0]
	*list = (*list)[1:]
	return f
}

func (s *server) serveHub(w http.ResponseWriter, r *http.Request) {
	s.note("hub", r)
	fault := s.next(&s.hubFault)
	s.mu.Lock()
	commit, files := s.commit, s.files
	s.mu.Unlock()
	name, isFile := strings.CutPrefix(r.URL.Path, "/"+model+"/resolve/"+commit+"/")
	data, ok := files[name]
	revision, isInfo := strings.CutPrefix(r.URL.EscapedPath(), "/api/models/"+model+"/revision/")
	switch {
	case fault != nil:
		fault(w, r, data)
	case isInfo && !strings.Contains(revision, "/") && r.URL.Query().Get("blobs") == "true":
		_ = json.NewEncoder(w).Encode(s.info())
	case !isFile || !ok:
		w.Header().Set("X-Error-Code", "EntryNotFound")
		http.Error(w, "nothing", http.StatusNotFound)
	case large(name):
		w.Header().Set("X-Repo-Commit", commit)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(data)))
		w.Header().Set("X-Linked-Etag", `"`+digest(name, data)+`"`)
		w.Header().Set("Location", s.cdn.URL+"/"+digest(name, data)+"?Signature=secret")
		w.WriteHeader(http.StatusFound)
	default:
		w.Header().Set("X-Repo-Commit", commit)
		serve(w, r, name, data)
	}
}

// serve answers with the whole file or a range, by ETag.
func serve(w http.ResponseWriter, r *http.Request, name string, data []byte) {
	w.Header().Set("Etag", `"`+digest(name, data)+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

func (s *server) serveCDN(w http.ResponseWriter, r *http.Request) {
	s.note("cdn", r)
	fault := s.next(&s.cdnFault)
	s.mu.Lock()
	files := s.files
	s.mu.Unlock()
	for name, data := range files {
		switch {
		case !large(name) || r.URL.Path != "/"+digest(name, data):
		case fault != nil:
			fault(w, r, data)
			return
		default:
			serve(w, r, name, data)
			return
		}
	}
	http.NotFound(w, r)
}

func (s *server) info() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	var siblings []map[string]any
	for name, data := range s.files {
		f := map[string]any{"rfilename": name, "size": len(data), "blobId": digest("", data)}
		if large(name) {
			f["lfs"] = map[string]any{"sha256": digest(name, data), "size": len(data), "pointerSize": 134}
		}
		siblings = append(siblings, f)
	}
	if s.listing != nil {
		return s.listing(siblings)
	}
	return map[string]any{"id": model, "sha": s.commit, "siblings": siblings, "private": false, "tags": []string{"x"}}
}

// sameFiles checks that a folder has exactly these files.
func sameFiles(t *testing.T, folder string, want map[string][]byte) {
	t.Helper()
	count := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		count++
		name, _ := filepath.Rel(folder, path)
		got, err := os.ReadFile(path)
		if data, ok := want[filepath.ToSlash(name)]; err != nil || !ok || !bytes.Equal(got, data) {
			t.Errorf("%q has %d bytes, %v, want %d, %t", name, len(got), err, len(data), ok)
		}
		return nil
	})
	if err != nil || count != len(want) {
		t.Errorf("%s has %d files, %v, want %d", folder, count, err, len(want))
	}
}

func fetch(t *testing.T, c *download.Client, revision string, want func(string) bool) string {
	t.Helper()
	folder, err := c.Fetch(t.Context(), model, revision, want)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// clean checks that nothing of a download is left, and no token went astray.
func (s *server) clean(t *testing.T, dir string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*.part*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.leaked) > 0 {
		t.Errorf("token: %q", s.leaked)
	}
}

func only(names ...string) func(string) bool {
	return func(name string) bool {
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return false
	}
}
