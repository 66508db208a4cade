package github_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

func artifacts() (seed githubtest.State, archive []byte) {
	seed, archive = state(), bytes.Repeat([]byte("zip\x00"), 5_000)
	seed.Repos[0].Runs = []githubtest.RunSeed{{
		ID: 100, HeadRepo: "mallory/repo", HeadBranch: "work", HeadSHA: strings.Repeat("f", 40), Conclusion: "failure",
		Artifacts: []githubtest.ArtifactSeed{
			{Name: "run-a", Data: archive}, {Name: "run-b", Expired: true},
			{Name: "run-c", Data: archive, Digest: "sha256:" + strings.Repeat("0", 64)},
		},
	}}
	return seed, archive
}

// served starts the archives' host beside the server.
func served(t *testing.T, seed githubtest.State) (s *githubtest.Server, address string) {
	t.Helper()
	s, address = githubtest.New(t, seed)
	blobs := httptest.NewServer(s)
	t.Cleanup(blobs.Close)
	s.BlobHost(blobs.URL)
	return s, address
}

func TestArtifactsAreDownloadedWithoutTheToken(t *testing.T) {
	seed, archive := artifacts()
	s, address := served(t, seed)
	c := client(t, address, token)
	all, err := c.Artifacts(t.Context(), repo, 100)
	if err != nil || len(all) != 3 || all[0].Name != "run-a" || all[0].Size != int64(len(archive)) || !all[1].Expired {
		t.Fatalf("got %+v, %v", all, err)
	}
	for _, maximum := range []int64{int64(len(archive)), 1 << 30} {
		var b bytes.Buffer
		if n, err := c.DownloadArtifact(t.Context(), repo, all[0].ID, &b, maximum); err != nil || n != int64(len(archive)) || !bytes.Equal(b.Bytes(), archive) {
			t.Errorf("at most %d: got %d bytes, %v", maximum, n, err)
		}
	}
	for name, test := range map[string]struct {
		id      int64
		maximum int64
		is      error
		want    string
	}{
		"too large": {all[0].ID, int64(len(archive)) - 1, github.ErrTooLarge, "larger than allowed"},
		"expired":   {all[1].ID, 1 << 30, nil, "run the job that made it again"},
		"forged":    {all[2].ID, 1 << 30, nil, "digest"},
		"unknown":   {4711, 1 << 30, nil, "check the name"},
	} {
		var b bytes.Buffer
		_, err := c.DownloadArtifact(t.Context(), repo, test.id, &b, test.maximum)
		if err == nil || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
		if int64(b.Len()) > test.maximum {
			t.Errorf("%s: got %d bytes", name, b.Len())
		}
	}
	if s.Violations() != nil {
		t.Error("violations")
	}
}

// TestLyingAboutTheSize sends more than was said, which is how a bomb arrives.
func TestLyingAboutTheSize(t *testing.T) {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/zip"):
			http.Redirect(w, r, server.URL+"/blob", http.StatusFound)
		case r.URL.Path == "/blob":
			for range 1000 {
				if _, err := w.Write(make([]byte, 10_000)); err != nil {
					return
				}
			}
		default:
			_, _ = w.Write([]byte(`{"id": 1, "size_in_bytes": 10}`))
		}
	}))
	defer server.Close()
	var b bytes.Buffer
	n, err := client(t, server.URL, token).DownloadArtifact(t.Context(), repo, 1, &b, 123_456)
	if !errors.Is(err, github.ErrTooLarge) || n != 123_456 || b.Len() != 123_456 {
		t.Errorf("got %d bytes, %d of them written, %v", n, b.Len(), err)
	}
}

func TestWhereArchivesMayNotBe(t *testing.T) {
	for _, location := range []string{"ftp://example.com/x", "https://user:pass@example.com/x", "file:///etc/passwd", "", "%%"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/zip") {
				w.Header()["Location"] = []string{location}
				w.WriteHeader(http.StatusFound)
				return
			}
			_, _ = w.Write([]byte(`{"id": 1, "size_in_bytes": 10}`))
		}))
		if _, err := client(t, server.URL, token).DownloadArtifact(t.Context(), repo, 1, &bytes.Buffer{}, 100); err == nil || strings.Contains(err.Error(), "pass@") {
			t.Errorf("location %q: got %v", location, err)
		}
		server.Close()
	}
}

// TestDownloadOnABadDay begins again after every kind of break, and writes
// nothing twice.
func TestDownloadOnABadDay(t *testing.T) {
	for seed := range uint64(40) {
		bad, archive := artifacts()
		bad.Chaos = &githubtest.Chaos{Seed: seed, Share: 0.35, Kinds: githubtest.Transient()}
		_, address := served(t, bad)
		c := client(t, address, token)
		all, err := c.Artifacts(t.Context(), repo, 100)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var b bytes.Buffer
		if n, err := c.DownloadArtifact(t.Context(), repo, all[0].ID, &b, 1<<20); err != nil || n != int64(len(archive)) || !bytes.Equal(b.Bytes(), archive) {
			t.Errorf("seed %d: got %d bytes, %v", seed, n, err)
		}
	}
}
