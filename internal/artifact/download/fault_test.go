package download_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/artifact/download"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// The faults of a server. Each is one answer.

// cut sends the first n bytes, of an answer that promises all of the rest.
func cut(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, data []byte) {
		var from int
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(data)-1, len(data)))
		}
		w.Header().Set("Etag", `"`+digest(shard, data)+`"`)
		w.Header().Set("Content-Length", strconv.Itoa(len(data)-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(data[from:min(from+n, len(data))])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// other sends the first n bytes of another file, under its own ETag.
func other(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, data []byte) {
		r.Header.Del("Range")
		cut(n)(w, r, content(77, len(data)))
	}
}

func whole(w http.ResponseWriter, _ *http.Request, data []byte) { _, _ = w.Write(data) }

// long sends a byte too many.
func long(length string) fault {
	return func(w http.ResponseWriter, r *http.Request, data []byte) {
		if length != "" {
			w.Header().Set("Content-Length", length)
		}
		whole(w, r, append(data[:len(data):len(data)], 1))
	}
}

func wrong(w http.ResponseWriter, _ *http.Request, data []byte) {
	_, _ = w.Write(content(78, len(data)))
}

func status(code int, headers ...string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

// partial answers a request for a range with headers of its own.
func partial(contentRange, tag string) fault {
	return func(w http.ResponseWriter, _ *http.Request, data []byte) {
		w.Header().Set("Content-Range", contentRange)
		w.Header().Set("Etag", tag)
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(data[1000:])
	}
}

func packed(w http.ResponseWriter, _ *http.Request, data []byte) {
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(data)
}

func repeat(f fault, n int) (list []fault) {
	for range n {
		list = append(list, f)
	}
	return list
}

// TestFaults: a client brings the right bytes, or an error that says what to
// do. want are the requests to the content delivery network.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hub, cdn []fault
		want     string // ranges
		error    string
	}{
		"none":                  {nil, nil, "all", ""},
		"cut":                   {nil, []fault{cut(1000)}, "all, bytes=1000- If-Range", ""},
		"cut twice":             {nil, []fault{cut(1000), cut(500)}, "all, bytes=1000- If-Range, bytes=1500- If-Range", ""},
		"cut before anything":   {nil, []fault{cut(0)}, "all, all", ""},
		"ignores Range":         {nil, []fault{cut(1000), whole}, "all, bytes=1000- If-Range", ""},
		"changed, correct":      {nil, []fault{other(1000)}, "all, bytes=1000- If-Range", ""},
		"changed, If-Range":     {nil, []fault{other(1000), partial("bytes 1000-299999/300000", `"new"`)}, "all, bytes=1000- If-Range, all", ""},
		"changed, no ETag":      {nil, []fault{other(1000), partial("bytes 1000-299999/300000", "")}, "all, bytes=1000- If-Range, all", ""},
		"rest, other ETag":      {nil, []fault{cut(1000), partial("bytes 1000-299999/300000", `"new"`)}, "all, bytes=1000- If-Range, all", ""},
		"other bytes":           {nil, []fault{cut(1000), partial("bytes 999-299999/300000", "")}, "all, bytes=1000- If-Range, all", ""},
		"other size":            {nil, []fault{cut(1000), partial("bytes 1000-299999/300001", "")}, "all, bytes=1000- If-Range, all", ""},
		"no range":              {nil, []fault{cut(1000), partial("bytes x", "")}, "all, bytes=1000- If-Range, all", ""},
		"unknown size":          {nil, []fault{cut(1000), partial("bytes 1000-299999/*", "")}, "all, bytes=1000- If-Range", ""},
		"part without question": {nil, []fault{partial("bytes 0-299999/300000", "")}, "all, all", ""},
		"no such range":         {nil, []fault{cut(1000), status(416)}, "all, bytes=1000- If-Range, all", ""},
		"weak ETag": {nil, []fault{func(w http.ResponseWriter, _ *http.Request, data []byte) {
			w.Header().Set("Etag", `W/"x"`)
			w.Header().Set("Content-Length", strconv.Itoa(len(data)))
			_, _ = w.Write(data[:1000])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}}, "all, bytes=1000-", ""},
		"busy, then well":   {[]fault{status(429, "Retry-After", "3"), nil, status(503)}, []fault{status(500)}, "all, all", ""},
		"signature ran out": {nil, []fault{status(403)}, "all, all", ""},
		"too often":         {nil, repeat(status(502), 6), "all, all, all, all, all, all", "tried 6 times"},
		"always cut":        {nil, repeat(cut(0), 6), "all, all, all, all, all, all", "tried 6 times"},
		"always ignores":    {nil, repeat(func(w http.ResponseWriter, r *http.Request, d []byte) { r.Header.Del("Range"); cut(1000)(w, r, d) }, 6), "all, bytes=1000- If-Range, bytes=1000- If-Range, bytes=1000- If-Range, bytes=1000- If-Range, bytes=1000- If-Range", "tried 6 times"},
		"wrong digest":      {nil, []fault{wrong}, "all", "do not have the digest"},
		"wrong rest": {nil, []fault{cut(1000), func(w http.ResponseWriter, r *http.Request, d []byte) {
			partial("bytes 1000-299999/300000", "")(w, r, content(79, len(d)))
		}}, "all, bytes=1000- If-Range, all", ""},
		"longer":              {nil, []fault{long("300001")}, "all", "the server sends 300001"},
		"longer, in chunks":   {nil, []fault{long("")}, "all", ""}, // what follows the file is not read
		"packed":              {nil, []fault{packed}, "all", "without being asked"},
		"wait too long":       {[]fault{status(429, "Retry-After", "100000")}, nil, "", "try again later, in 27h46m40s"},
		"other commit":        {[]fault{nil, status(200, "X-Repo-Commit", strings.Repeat("a", 40))}, nil, "", "asked for commit"},
		"other linked size":   {[]fault{nil, status(302, "Location", "/x", "X-Linked-Size", "300001")}, nil, "", `the hub sends "300001"`},
		"other linked digest": {[]fault{nil, status(302, "Location", "/x", "X-Linked-Etag", `"x"`)}, nil, "", `the hub sends "x"`},
		"gone":                {[]fault{nil, status(404)}, nil, "", "check id and revision"},
	} {
		s, dir := newServer(t), t.TempDir()
		s.fail(c.hub, c.cdn)
		folder, err := s.client(dir).Fetch(t.Context(), model, "main", only(shard))
		var ranges []string
		for _, request := range s.take() {
			if rest, ok := strings.CutPrefix(request, "cdn /"+digest(shard, s.files[shard])); ok {
				ranges = append(ranges, strings.TrimSpace(rest))
				if rest == "" {
					ranges[len(ranges)-1] = "all"
				}
			}
		}
		if got := strings.Join(ranges, ", "); got != c.want {
			t.Errorf("%s: asked for %s, want %s", name, got, c.want)
		}
		switch {
		case err == nil && c.error == "":
			sameFiles(t, folder, map[string][]byte{shard: s.files[shard]})
			s.clean(t, dir)
		case err == nil || c.error == "" || !strings.Contains(err.Error(), c.error) || strings.Contains(err.Error(), "Signature") || strings.Contains(err.Error(), token):
			t.Errorf("%s: %v, want %q", name, err, c.error)
		default: // the next call succeeds, whatever this one left
			sameFiles(t, fetch(t, s.client(dir), "main", only(shard)), map[string][]byte{shard: s.files[shard]})
			s.clean(t, dir)
		}
	}
}

// TestWaits: how long a client waits, as the server asks or twice as long each
// time.
func TestWaits(t *testing.T) {
	t.Parallel()
	date := []string{"Date", "Tue, 01 Jul 2025 10:00:00 GMT", "Retry-After", "Tue, 01 Jul 2025 10:00:40 GMT"}
	s := newServer(t)
	s.fail([]fault{status(429, "Retry-After", "7"), status(503, date...), status(429, "RateLimit", `"api";r=0;t=55`), status(429, "RateLimit", `"api";r=0;t=x`), status(500)}, nil)
	var waits []time.Duration
	c := s.client(t.TempDir())
	c.Sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	fetch(t, c, "", nil)
	if len(waits) != 5 || waits[0] != 7*time.Second || waits[1] != 40*time.Second || waits[2] != 55*time.Second ||
		waits[3] < 8*time.Second || waits[3] > 12*time.Second || waits[4] < 16*time.Second || waits[4] > 24*time.Second {
		t.Errorf("waits %v", waits)
	}
	stop := errors.New("stop")
	s.fail([]fault{status(500)}, nil)
	c.Sleep = func(context.Context, time.Duration) error { return stop }
	if _, err := c.Fetch(t.Context(), model, "", nil); !errors.Is(err, stop) {
		t.Errorf("after Sleep fails: %v", err)
	}
}

// TestSlowServers: one that sends little by little is heard to the end, one
// that falls silent is asked again.
func TestSlowServers(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), t.TempDir()
	s.fail(nil, []fault{
		func(w http.ResponseWriter, r *http.Request, data []byte) {
			w.Header().Set("Content-Length", strconv.Itoa(len(data)))
			_, _ = w.Write(data[:1000])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		func(w http.ResponseWriter, _ *http.Request, data []byte) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 1000-%d/%d", len(data)-1, len(data)))
			w.WriteHeader(http.StatusPartialContent)
			for at := 1000; at < len(data); at += 15_000 {
				_, _ = w.Write(data[at:min(at+15_000, len(data))])
				_ = http.NewResponseController(w).Flush()
				time.Sleep(100 * time.Millisecond) // twenty times: longer than a stall in sum
			}
		},
	})
	c := s.client(dir)
	c.Stall = 1500 * time.Millisecond
	sameFiles(t, fetch(t, c, "", only(shard)), map[string][]byte{shard: s.files[shard]})
	if got := s.take(); len(got) != 5 || !strings.HasSuffix(got[4], "bytes=1000-") {
		t.Errorf("requests %q", got)
	}
	s.clean(t, dir)
	silent := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	silent.EnableHTTP2 = true // as the hub has it
	silent.StartTLS()
	defer silent.Close()
	c.Endpoint, c.HTTP, c.Stall = silent.URL, silent.Client(), 300*time.Millisecond
	if _, err := c.Fetch(t.Context(), model, "", nil); err == nil || !strings.Contains(err.Error(), "sends nothing any more") || !strings.Contains(err.Error(), "tried 6 times") {
		t.Errorf("silence: %v", err)
	}
}

// TestRandomFaults: whatever happens in whatever order, a call that succeeds has
// the right bytes, and what a failed one left does the next one no harm.
func TestRandomFaults(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testtier.Seed(t), 2))
	s, dir := newServer(t), t.TempDir()
	all := []fault{nil, cut(0), cut(1), cut(100_000), cut(299_999), other(5), other(200_000), whole, wrong, packed, status(416), status(403), status(500), status(206),
		partial("bytes 1000-299999/300000", ""), partial("bytes 1000-299999/300000", `"x"`), partial("bytes 5-299999/300000", "")}
	succeeded := 0
	for i := range 60 {
		s.mu.Lock()
		s.commit = fmt.Sprintf("%040x", i)
		if i%3 == 0 {
			s.files = map[string][]byte{shard: content(uint64(i), 300_000)}
		}
		s.cdnFault = nil
		for range r.IntN(8) {
			s.cdnFault = append(s.cdnFault, all[r.IntN(len(all))])
		}
		s.mu.Unlock()
		folder, err := s.client(dir).Fetch(t.Context(), model, "main", nil)
		if err != nil {
			continue
		}
		succeeded++
		if got, err := os.ReadFile(filepath.Join(folder, shard)); err != nil || !bytes.Equal(got, s.files[shard]) {
			t.Fatalf("call %d: %d bytes, %v", i, len(got), err)
		}
	}
	if t.Logf("%d of 60 calls succeeded", succeeded); succeeded < 5 || succeeded == 60 {
		t.Error("that is not a mixture")
	}
}

// TestLeftovers: partial files as a kill at any point leaves them.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size   int // of the partial file; its bytes are right
		tag    string
		broken bool
		want   string // the request's end
	}{
		"empty":         {0, "", false, ""},
		"some":          {1000, "*", false, "bytes=1000- If-Range"},
		"without a tag": {1000, "", false, "bytes=1000-"},
		"another tag":   {1000, `"x"`, false, "bytes=1000- If-Range"},
		"all":           {300_000, "*", false, "nothing"},
		"too much":      {300_001, "*", false, ""},
		"broken":        {1000, "*", true, "bytes=1000- If-Range"}, // and then all
		"broken, all":   {300_000, "*", true, ""},
		"long tag":      {1000, strings.Repeat("x", 2000), false, "bytes=1000- If-Range"},
	} {
		s, dir := newServer(t), t.TempDir()
		sum := digest(shard, s.files[shard])
		path := filepath.Join(dir, "models--owner--model", "blobs", sum+".part")
		data := append(s.files[shard][:300_000:300_000], 0)[:c.size]
		if c.broken {
			data = content(80, c.size)
		}
		write(t, path, data)
		if c.tag != "" {
			write(t, path+".etag", []byte(strings.Replace(c.tag, "*", `"`+sum+`"`, 1)))
		}
		write(t, filepath.Join(dir, "models--owner--model", ".accelgate", "new"), []byte("{"))
		sameFiles(t, fetch(t, s.client(dir), "", only(shard)), map[string][]byte{shard: s.files[shard]})
		got := "nothing"
		for _, request := range s.take() {
			if rest, ok := strings.CutPrefix(request, "cdn /"+sum); ok {
				got = strings.TrimSpace(rest)
				break
			}
		}
		if got != c.want {
			t.Errorf("%s: first asked for %q, want %q", name, got, c.want)
		}
		s.clean(t, dir)
	}
}

// TestMain is also the other process of the tests below: it gets the model from
// the hub that its environment names.
func TestMain(m *testing.M) {
	endpoint := os.Getenv("HUB_TEST_ENDPOINT")
	if endpoint == "" {
		os.Exit(m.Run())
	}
	c := download.Client{Endpoint: endpoint, Token: token, Dir: os.Getenv("HUB_TEST_DIR")}
	if address := os.Getenv("HUB_TEST_URL"); address != "" {
		os.Exit(holdURL(&c, address))
	}
	folder, err := c.Fetch(context.Background(), model, "main", nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(folder)
	os.Exit(0)
}

// holdURL gets a file and holds it until its standard input ends.
func holdURL(c *download.Client, address string) int {
	c.Holds = &download.Holds{}
	path, err := c.Get(context.Background(), download.URL{Address: address, SHA256: os.Getenv("HUB_TEST_SHA256"), Size: 300_000})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(path)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func (s *server) process(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), "HUB_TEST_ENDPOINT="+s.hub.URL, "HUB_TEST_DIR="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestProcesses: several processes and goroutines that want the same files at
// once get them once.
func TestProcesses(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), t.TempDir()
	s.fail(nil, []fault{func(w http.ResponseWriter, r *http.Request, data []byte) {
		time.Sleep(300 * time.Millisecond) // so that all are there
		whole(w, r, data)
	}})
	var processes []*exec.Cmd
	for range 3 {
		p := s.process(t, dir)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		processes = append(processes, p)
	}
	results := make(chan error)
	for range 3 {
		go func() {
			_, err := s.client(dir).Fetch(t.Context(), model, "main", nil)
			results <- err
		}()
	}
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	for _, p := range processes {
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
	}
	counts := map[string]int{}
	for _, request := range s.take() {
		if !strings.Contains(request, "/api/") {
			counts[request]++
		}
	}
	for request, n := range counts {
		if n > 1 {
			t.Errorf("%d times %q", n, request)
		}
	}
	sameFiles(t, filepath.Join(dir, "models--owner--model", "snapshots", commit), s.files)
	s.clean(t, dir)
}

// TestKill: what a killed process has received is not asked for again, and its
// lock ended with it.
func TestKill(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), t.TempDir()
	sent := make(chan bool)
	s.fail(nil, []fault{func(w http.ResponseWriter, r *http.Request, data []byte) {
		w.Header().Set("Etag", `"`+digest(shard, data)+`"`)
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data[:200_000])
		_ = http.NewResponseController(w).Flush()
		close(sent)
		<-r.Context().Done()
	}})
	p := s.process(t, dir)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	<-sent
	part := filepath.Join(dir, "models--owner--model", "blobs", digest(shard, s.files[shard])+".part")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if info, err := os.Stat(part); err == nil && info.Size() == 200_000 || time.Now().After(deadline) {
			break
		}
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // killed
	s.take()
	sameFiles(t, fetch(t, s.client(dir), "", nil), s.files)
	found := false
	for _, request := range s.take() {
		found = found || strings.HasSuffix(request, " bytes=200000- If-Range")
	}
	if !found {
		t.Error("the next process does not go on where the killed one was")
	}
	s.clean(t, dir)
}
