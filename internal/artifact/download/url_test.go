package download_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/artifact/download"
)

func sha(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// fileURL is the large file of the server, at the address that its content delivery network has.
func (s *server) fileURL() download.URL {
	return download.URL{Address: s.cdn.URL + "/" + digest(shard, s.files[shard]) + "?Signature=secret", SHA256: sha(s.files[shard]), Name: "model.bin"}
}

func (s *server) get(t *testing.T, c *download.Client, u download.URL) {
	t.Helper()
	path, err := c.Get(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(s.files[shard]) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

// unranged ignores Range, and sends the length.
func unranged(w http.ResponseWriter, r *http.Request, data []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	whole(w, r, data)
}

// TestURLFaults: Get brings the right bytes, or an error that says what to do. want are
// the requests; the first one asks for the size where it is not given.
func TestURLFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size   int64
		faults []fault
		want   string
		error  string
	}{
		"none":            {0, nil, "bytes=0-0, all", ""},
		"size given":      {300_000, nil, "all", ""},
		"cut":             {300_000, []fault{cut(1000)}, "all, bytes=1000- If-Range", ""},
		"cut, no size":    {0, []fault{nil, cut(1000)}, "bytes=0-0, all, bytes=1000- If-Range", ""},
		"ignores Range":   {0, []fault{unranged, cut(1000), unranged}, "bytes=0-0, all, bytes=1000- If-Range", ""},
		"no length":       {0, []fault{long("")}, "bytes=0-0", "sends no length of the file: give its size"},
		"wrong size":      {299_999, nil, "all", "listed with 299999 bytes, the server sends 300000"},
		"longer":          {300_000, []fault{long("300001")}, "all", "the server sends 300001"},
		"wrong bytes":     {300_000, []fault{wrong}, "all", "do not have the digest " + sha(content(2, 300_000)) + ", but " + sha(content(78, 300_000))},
		"always cut":      {300_000, repeat(cut(0), 6), "all, all, all, all, all, all", "tried 6 times"},
		"busy, then well": {300_000, []fault{status(503)}, "all, all", ""},
		"gone":            {300_000, []fault{status(404)}, "all", "404 Not Found: check the URL"},
		"login":           {0, []fault{status(401)}, "bytes=0-0", "must need no login"},
		"redirects on":    {300_000, repeat(status(302, "Location", "?again"), 6), "all, all, all, all, all, all", "redirects more than 5 times"},
		"bad redirect":    {300_000, []fault{status(302, "Location", "ftp://example.com/x")}, "all", "invalid address"},
	} {
		s, dir := newServer(t), t.TempDir()
		s.fail(nil, c.faults)
		u := s.fileURL()
		u.Size = c.size
		_, err := s.client(dir).Get(t.Context(), u)
		var ranges []string
		for _, request := range s.take() {
			_, rest, _ := strings.Cut(strings.TrimPrefix(request, "cdn "), " ")
			if rest == "" {
				rest = "all"
			}
			ranges = append(ranges, rest)
		}
		if got := strings.Join(ranges, ", "); got != c.want {
			t.Errorf("%s: asked for %s, want %s", name, got, c.want)
		}
		if c.error == "" && err != nil || c.error != "" && (err == nil || !strings.Contains(err.Error(), c.error) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v, want %q", name, err, c.error)
		}
		s.get(t, s.client(dir), s.fileURL()) // whatever this call left
		s.clean(t, dir)
		s.fail(nil, []fault{status(500)})
		s.get(t, &download.Client{Dir: dir, Offline: true}, s.fileURL())
	}
}

// TestURLNames: the same bytes under two names are got once, and both stay.
func TestURLNames(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), t.TempDir()
	one, other := s.fileURL(), s.fileURL()
	other.Name = ""
	for range 2 {
		s.get(t, s.client(dir), one)
		s.get(t, s.client(dir), other)
	}
	if got := s.take(); len(got) != 2 {
		t.Errorf("requests %q", got)
	}
	if base := filepath.Base(other.Path(dir)); base != digest(shard, s.files[shard]) {
		t.Errorf("the name is %q", base)
	}
}

// TestURLRefusals: what is wrong before anything is asked.
func TestURLRefusals(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("a", 64)
	for name, u := range map[string]download.URL{
		"scheme":    {Address: "ftp://example.com/x", SHA256: sum},
		"no host":   {Address: "https:///x", SHA256: sum},
		"user":      {Address: "https://me:word@example.com/x", SHA256: sum},
		"malformed": {Address: "https://example.com/%zz?Signature=word", SHA256: sum},
		"digest":    {Address: "https://example.com/x", SHA256: "../../x"},
		"slash":     {Address: "https://example.com/x", SHA256: sum, Name: "a/b"},
		"above":     {Address: "https://example.com/x", SHA256: sum, Name: ".."},
		"control":   {Address: "https://example.com/x", SHA256: sum, Name: "a\x1b[m"},
	} {
		dir := t.TempDir()
		if _, err := (&download.Client{Dir: dir}).Get(t.Context(), u); err == nil || strings.Contains(err.Error(), "word") {
			t.Errorf("%s: %v", name, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%s: makes %v", name, entries)
		}
	}
	for address, want := range map[string]string{"https://h/a/b.gguf?x=1": "b.gguf", "https://h/": "file", "https://h": "file", "https://h/a/..": "file", "https://h/a%2Fb": "b"} {
		if got := filepath.Base(download.URL{Address: address, SHA256: sum}.Path("x")); got != want {
			t.Errorf("%s is saved as %q, want %q", address, got, want)
		}
	}
}

// TestPrivateRedirects: a server at a public address leads neither to this machine nor into
// its network; one at a private address may.
func TestPrivateRedirects(t *testing.T) {
	t.Parallel()
	const public = "192.0.2.1" // of documents (RFC 5737)
	for to, refused := range map[string]bool{"": false, "http://10.0.0.1/x": true, "http://169.254.169.254/latest": true, "http://[::ffff:127.0.0.1]/x": true, "http://localhost/x": true} {
		s := newServer(t)
		asked := 0
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			if !strings.HasPrefix(address, public) {
				asked++
			}
			return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(s.cdn.URL, "http://"))
		}
		if to != "" {
			s.fail(nil, []fault{status(302, "Location", to)})
		}
		c := s.client(t.TempDir())
		c.HTTP = &http.Client{Transport: &http.Transport{DialContext: dial}}
		u := s.fileURL()
		u.Size = 300_000
		address, _ := url.Parse(u.Address)
		address.Host = public
		u.Address = address.String()
		_, err := c.Get(t.Context(), u)
		if refused != (err != nil && strings.Contains(err.Error(), "private address")) || asked > 0 {
			t.Errorf("to %q: %v, %d others were asked", to, err, asked)
		}
	}
	secure := httptest.NewTLSServer(http.RedirectHandler("http://127.0.0.1/x", http.StatusFound))
	defer secure.Close()
	c := download.Client{Dir: t.TempDir(), HTTP: secure.Client()}
	if _, err := c.Get(t.Context(), download.URL{Address: secure.URL, SHA256: strings.Repeat("a", 64)}); err == nil || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("to http: %v", err)
	}
}

// TestReread: a file whose bytes changed is removed, and got again.
func TestReread(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), t.TempDir()
	s.get(t, s.client(dir), s.fileURL())
	check := &download.Client{Dir: dir, Offline: true, Reread: true}
	s.get(t, check, s.fileURL())
	write(t, s.fileURL().Path(dir), content(9, 300_000))
	if _, err := check.Get(t.Context(), s.fileURL()); err == nil || !strings.Contains(err.Error(), "the file was removed") {
		t.Errorf("damaged: %v", err)
	}
	s.get(t, s.client(dir), s.fileURL())
}

// TestDatasets: a dataset has addresses and a folder of its own.
func TestDatasets(t *testing.T) {
	t.Parallel()
	data := []byte("a prompt\n")
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/datasets/owner/set/revision/" + commit:
			fmt.Fprintf(w, `{"sha": %q, "siblings": [{"rfilename": "a/b.txt", "size": %d, "blobId": %q}]}`, commit, len(data), digest("", data))
		case "/datasets/owner/set/resolve/" + commit + "/a/b.txt":
			_, _ = w.Write(data)
		default:
			t.Errorf("asked for %s", r.URL.Path)
		}
	}))
	defer hub.Close()
	c := &download.Client{Endpoint: hub.URL, Dir: t.TempDir()}
	folder, err := c.Fetch(t.Context(), "datasets/owner/set", commit, nil)
	if err != nil || folder != c.Snapshot("datasets/owner/set", commit) {
		t.Fatalf("%q, %v", folder, err)
	}
	sameFiles(t, folder, map[string][]byte{"a/b.txt": data})
}

// used makes the snapshots of a cache as old as their place in a list.
func used(t *testing.T, dir string, snapshots ...string) {
	t.Helper()
	for i, name := range snapshots {
		at := time.Unix(int64(i)*1000, 0)
		if err := os.Chtimes(filepath.Join(dir, ".accelgate", name+".used"), at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEvict: the files that were used longest ago make room, but neither those that are
// held nor those of other programs.
func TestEvict(t *testing.T) {
	t.Parallel()
	const size = 1000
	files := map[string][]byte{}
	for i := range 6 {
		files[fmt.Sprintf("/%d", i)] = content(uint64(i), size)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, "", files[r.URL.Path]) }))
	defer server.Close()
	dir := t.TempDir()
	get := func(i int, h *download.Holds, limit int64) error {
		name := fmt.Sprintf("/%d", i)
		c := &download.Client{Dir: dir, Limit: limit, Holds: h}
		_, err := c.Get(t.Context(), download.URL{Address: server.URL + name, SHA256: sha(files[name])})
		return err
	}
	there := func(want string) {
		t.Helper()
		got := ""
		for i := range 6 {
			name := fmt.Sprintf("/%d", i)
			_, err := os.Stat(filepath.Join(dir, "urls", "snapshots", sha(files[name]), name))
			_, blobErr := os.Stat(filepath.Join(dir, "urls", "blobs", sha(files[name])))
			if (err == nil) != (blobErr == nil) {
				t.Errorf("%d: the file is there: %v, its blob: %v", i, err, blobErr)
			}
			if err == nil {
				got += name[1:]
			}
		}
		if got != want {
			t.Errorf("the cache has %q, want %q", got, want)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	held, none := &download.Holds{}, &download.Holds{}
	must(get(0, none, 3*size))
	none.Release()
	must(get(1, held, 3*size))
	must(get(2, none, 3*size))
	none.Release()
	used(t, filepath.Join(dir, "urls"), sha(files["/2"]), sha(files["/1"]), sha(files["/0"]))
	there("012")
	must(get(3, nil, 3*size))
	there("013")
	part := filepath.Join(dir, "urls", "blobs", strings.Repeat("b", 64)+".part")
	write(t, part, content(9, 500))
	must(os.Chtimes(part, time.Unix(1, 0), time.Unix(1, 0)))
	must(get(4, nil, 2*size)) // 3 was never held: nothing is known of its use
	there("14")
	if _, err := os.Stat(part); err == nil {
		t.Error("an abandoned part stays")
	}
	if err := get(5, nil, size); err == nil || !strings.Contains(err.Error(), "raise host.cache_gib") {
		t.Errorf("no room: %v", err)
	}
	if err := get(5, nil, size-1); err == nil || !strings.Contains(err.Error(), "raise host.cache_gib") {
		t.Errorf("larger than the cache: %v", err)
	}
	held.Release()
	foreign := filepath.Join(dir, "models--a--b", "snapshots", commit, "x")
	must(os.MkdirAll(filepath.Dir(foreign), 0o755))
	write(t, foreign, content(1, 5000))
	must(get(5, nil, size))
	there("5")
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("what another program got: %v", err)
	}
}

// TestURLProcesses: processes that want one file at once get it once, and what one of them
// holds is not evicted until it ends, by a kill too.
func TestURLProcesses(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), t.TempDir()
	s.fail(nil, []fault{func(w http.ResponseWriter, r *http.Request, data []byte) {
		time.Sleep(200 * time.Millisecond) // so that all are there
		whole(w, r, data)
	}})
	u := s.fileURL()
	u.Name, u.Size = "", 300_000
	var holders []*exec.Cmd
	var outs []io.Reader
	for range 3 {
		p := s.process(t, dir)
		p.Env = append(p.Env, "HUB_TEST_URL="+u.Address, "HUB_TEST_SHA256="+u.SHA256)
		if _, err := p.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := p.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		holders = append(holders, p)
		outs = append(outs, out)
	}
	s.get(t, s.client(dir), u)
	for _, out := range outs {
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != u.Path(dir) {
			t.Errorf("a process prints %q, %v", line, err)
		}
	}
	if got := s.take(); len(got) != 1 {
		t.Errorf("requests %q", got)
	}
	small := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("small")) }))
	defer small.Close()
	tight := &download.Client{Dir: dir, Limit: 300_002}
	other := download.URL{Address: small.URL + "/small", SHA256: sha([]byte("small"))}
	if _, err := tight.Get(t.Context(), other); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("held by other processes: %v", err)
	}
	for _, p := range holders {
		_ = p.Process.Kill()
		_ = p.Wait() // killed
	}
	if _, err := tight.Get(t.Context(), other); err != nil {
		t.Errorf("no process holds it: %v", err)
	}
	if _, err := os.Stat(u.Path(dir)); err == nil {
		t.Error("the file that was used before stays")
	}
}

// FuzzURL: an address or a name that is accepted leads to a file below the cache.
func FuzzURL(f *testing.F) {
	for _, address := range []string{"https://example.com/a/b.gguf?x=1#y", "http://[::1]:80/..", "https://h/%2e%2e", "https://h/a%00b", "https://h/C:x", "ftp://h/x", "https://u@h/x", "https://h/a\\b"} {
		f.Add(address, "")
		f.Add("https://h/x", address)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, address, name string) {
		u := download.URL{Address: address, SHA256: strings.Repeat("a", 64), Name: name}
		_, err := (&download.Client{Dir: dir, Offline: true}).Get(t.Context(), u)
		if !errors.Is(err, download.ErrOffline) {
			if err == nil {
				t.Error("got a file that is not there")
			}
			return
		}
		rel, err := filepath.Rel(filepath.Join(dir, "urls", "snapshots", u.SHA256), u.Path(dir))
		if err != nil || !filepath.IsLocal(rel) || rel == "." || strings.ContainsAny(rel, `/\`) {
			t.Errorf("%q as %q leads to %q", address, name, rel)
		}
	})
}
