package download_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/artifact/download"
)

const shard = "model-00001-of-00002.safetensors"

// TestFetch follows a model from an empty cache through new commits.
func TestFetch(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), filepath.Join(t.TempDir(), "new", "cache")
	c := s.client(dir)
	expect := func(what string, want ...string) {
		t.Helper()
		got := s.take()
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "/owner/model/resolve/", "")
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: requests %q, want %q", what, got, want)
		}
	}
	const info = "hub /api/models/owner/model/revision/"
	cdn := "cdn /" + digest(shard, s.files[shard])
	folder := fetch(t, c, "main", only("config.json"))
	if filepath.Base(folder) != commit {
		t.Errorf("folder %q does not end in the commit", folder)
	}
	sameFiles(t, folder, map[string][]byte{"config.json": s.files["config.json"]})
	expect("one file", info+"main", "hub "+commit+"/config.json")

	// as where a folder can have no hard links
	if err := os.Remove(filepath.Join(folder, "..", "..", "blobs", digest("", s.files["config.json"]))); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, fetch(t, c, "", nil), s.files) // an empty file needs no request
	expect("all", cdn, info+"main", "hub "+commit+"/"+shard, "hub "+commit+"/sub folder/a+b%20#?ü.json")

	fetch(t, c, commit, nil)
	expect("a commit that is there")
	fetch(t, c, "main", nil)
	expect("a branch that has not moved", info+"main")

	const second = "89abcdef0123456789abcdef0123456789abcdef"
	old := s.files
	s.mu.Lock()
	s.commit, s.files = second, maps.Clone(s.files)
	s.files["config.json"] = content(9, 701)
	s.mu.Unlock()
	sameFiles(t, fetch(t, c, "refs/pr/1", nil), s.files)
	expect("a new commit", info+"refs/pr/1", "hub "+second+"/config.json")
	sameFiles(t, fetch(t, c, commit, nil), old)
	expect("the old one")

	offline := &download.Client{Dir: dir, Offline: true}
	for _, revision := range []string{commit, second, "main", "refs/pr/1"} {
		if _, err := offline.Fetch(t.Context(), model, revision, nil); err != nil {
			t.Errorf("offline %s: %v", revision, err)
		}
	}
	s.clean(t, dir)
}

// TestOffline: what is not there is an error that says so, and nothing is sent
// or made.
func TestOffline(t *testing.T) {
	t.Parallel()
	s, dir := newServer(t), t.TempDir()
	c := s.client(dir)
	c.Offline = true
	lacks := func(what, revision string, want func(string) bool) {
		t.Helper()
		if _, err := c.Fetch(t.Context(), model, revision, want); err == nil || !strings.Contains(err.Error(), "offline: go online once") {
			t.Errorf("%s: %v", what, err)
		}
	}
	lacks("an empty cache", "main", nil)
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("offline makes %v", entries)
	}
	c.Offline = false
	folder := fetch(t, c, "main", only("config.json"))
	s.take()
	c.Offline = true
	lacks("another file", "main", only("config.json", shard))
	lacks("another branch", "dev", only("config.json"))
	lacks("another commit", strings.Repeat("a", 40), only("config.json"))
	if err := os.Truncate(filepath.Join(folder, "config.json"), 3); err != nil {
		t.Fatal(err)
	}
	lacks("a file that was cut", commit, only("config.json"))
	if got := s.take(); len(got) > 0 {
		t.Errorf("offline sends %q", got)
	}
	c.Offline = false
	sameFiles(t, fetch(t, c, commit, only("config.json")), map[string][]byte{"config.json": s.files["config.json"]})
	s.hub.Close()
	if _, err := c.Fetch(t.Context(), model, "main", nil); err == nil || !strings.Contains(err.Error(), `the cache has "main" as commit `+commit) {
		t.Errorf("without a network: %v", err)
	}
}

// TestRefusals: what is wrong before anything is asked.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, c := range map[string]struct{ id, revision, endpoint, want string }{
		"id above":            {"../model", "", "", "no id of a model"},
		"id of three":         {"a/b/c", "", "", "no id of a model"},
		"id with separator":   {"a--b/c", "", "", "no id of a model"},
		"empty id":            {"", "", "", "no id of a model"},
		"empty owner":         {"/model", "", "", "no id of a model"},
		"dot":                 {"a/.", "", "", "no id of a model"},
		"query":               {"a/b?c=d", "", "", "no id of a model"},
		"git":                 {"a/b.git", "", "", "no id of a model"},
		"long id":             {"a/" + strings.Repeat("b", 97), "", "", "no id of a model"},
		"other letters":       {"a/bü", "", "", "no id of a model"},
		"revision above":      {model, "a/../b", "", "not a revision"},
		"revision query":      {model, "main?blobs=false", "", "not a revision"},
		"absolute revision":   {model, "/main", "", "not a revision"},
		"option":              {model, "-main", "", "not a revision"},
		"line":                {model, "ma\nin", "", "not a revision"},
		"long revision":       {model, strings.Repeat("r", 201), "", "not a revision"},
		"endpoint":            {model, "", "huggingface.co", "not a plain address"},
		"file":                {model, "", "file:///etc", "not a plain address"},
		"user":                {model, "", "https://u:p@huggingface.co", "not a plain address"},
		"token in the clear":  {model, "", "http://mirror.example", "in the clear"},
		"token in the clear ": {model, "", "http://127.0.0.1.example", "in the clear"},
	} {
		client := s.client(t.TempDir())
		if c.endpoint != "" {
			client.Endpoint = c.endpoint
		}
		if _, err := client.Fetch(t.Context(), c.id, c.revision, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := s.client("").Fetch(t.Context(), model, "", nil); err == nil || !strings.Contains(err.Error(), "no cache") {
		t.Errorf("without a folder: %v", err)
	}
	if got := s.take(); len(got) > 0 {
		t.Errorf("sent %q", got)
	}
}

// TestListings: what a hub may not list, or not in this amount.
func TestListings(t *testing.T) {
	t.Parallel()
	file := func(name string, size any, more ...any) map[string]any {
		f := map[string]any{"rfilename": name, "size": size, "blobId": strings.Repeat("a", 40)}
		for i := 0; i < len(more); i += 2 {
			f[more[i].(string)] = more[i+1]
		}
		return f
	}
	many := func(n int) json.RawMessage {
		list := []byte("[")
		for i := range n {
			list = fmt.Appendf(list, `{"rfilename":"%d","size":0,"blobId":%q},`, i, strings.Repeat("a", 40))
		}
		return append(list[:len(list)-1], ']')
	}
	for name, c := range map[string]struct {
		siblings any
		want     string
	}{
		"above":             {[]any{file("../x", 1)}, "no name of a file"},
		"above, inside":     {[]any{file("a/../../x", 1)}, "no name of a file"},
		"absolute":          {[]any{file("/etc/x", 1)}, "no name of a file"},
		"folder":            {[]any{file("a/", 1)}, "no name of a file"},
		"itself":            {[]any{file(".", 1)}, "no name of a file"},
		"empty":             {[]any{file("", 1)}, "no name of a file"},
		"Windows":           {[]any{file(`..\x`, 1)}, "not a name that can be saved"},
		"zero":              {[]any{file("a\x00b", 1)}, "not a name that can be saved"},
		"long name":         {[]any{file(strings.Repeat("a", 256), 1)}, "not a name that can be saved"},
		"long path":         {[]any{file(strings.Repeat("a/", 600)+"a", 1)}, "not a name that can be saved"},
		"twice":             {[]any{file("a", 1), file("a", 1)}, "listed twice"},
		"cases":             {[]any{file("a", 1), file("A", 1)}, "one file on some systems"},
		"below zero":        {[]any{file("a", -1)}, "size below zero"},
		"huge size":         {[]any{file("a", int64(1)<<62), file("b", int64(1)<<62)}, "more than 274877906944 bytes"},
		"sum overflows":     {[]any{file("a", 1), file("b", int64(math.MaxInt64))}, "more than 274877906944 bytes"},
		"many bytes":        {[]any{file("a", 200<<30), file("b", 56<<30), file("c", 1)}, "more than 274877906944 bytes"},
		"fraction":          {[]any{file("a", 1.5)}, "not JSON as the hub writes it"},
		"overflow":          {[]any{file("a", json.Number("18446744073709551616"))}, "not JSON as the hub writes it"},
		"no size":           {[]any{file("a", nil)}, "without size or digest"},
		"no digest":         {[]any{file("a", 1, "blobId", nil)}, "without size or digest"},
		"digest of names":   {[]any{file("a", 1, "blobId", "../../../../../../../../../../etc/passwd1")}, "not a digest"},
		"large digest":      {[]any{file("a", 1, "lfs", map[string]any{"sha256": strings.Repeat("A", 64)})}, "not a digest"},
		"two sizes":         {[]any{file("a", 1, "lfs", map[string]any{"sha256": strings.Repeat("a", 64), "size": 2})}, "with 1 and with 2 bytes"},
		"no files":          {[]any{}, "none of its 0 files is wanted"},
		"many files":        {many(download.MaxFiles + 1), "2001 files are wanted"},
		"very many files":   {many(download.MaxListed + 1), "100001 files"},
		"list of something": {"x", "not JSON as the hub writes it"},
	} {
		s, dir := newServer(t), t.TempDir()
		s.listing = func([]map[string]any) any { return map[string]any{"sha": commit, "siblings": c.siblings} }
		_, err := s.client(dir).Fetch(t.Context(), model, "main", nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 500 {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if got := s.take(); len(got) != 1 {
			t.Errorf("%s: requests %q", name, got)
		}
	}
	s := newServer(t)
	s.fail([]fault{func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		_, _ = w.Write(append([]byte(`{"sha":"`+commit+`"}`), strings.Repeat(" ", download.MaxInfo)...))
	}}, nil)
	if _, err := s.client(t.TempDir()).Fetch(t.Context(), model, "", nil); err == nil || !strings.Contains(err.Error(), "more than 33554432 bytes") {
		t.Errorf("a long listing: %v", err)
	}
	s.commit = "main"
	if _, err := s.client(t.TempDir()).Fetch(t.Context(), model, "", nil); err == nil || !strings.Contains(err.Error(), "which is not a commit") {
		t.Errorf("no commit: %v", err)
	}
	s.commit = commit
	if _, err := s.client(t.TempDir()).Fetch(t.Context(), model, strings.Repeat("a", 40), nil); err == nil || !strings.Contains(err.Error(), "the hub answers "+commit) {
		t.Errorf("another commit: %v", err)
	}
	c := s.client(t.TempDir())
	c.MaxBytes = 300_749
	if _, err := c.Fetch(t.Context(), model, "", nil); err == nil || !strings.Contains(err.Error(), "more than 300749 bytes") {
		t.Errorf("a byte more than is allowed: %v", err)
	}
	c.MaxBytes++
	fetch(t, c, "", nil)
}

// TestAnswers: what the hub says when it says no, and what to do then. No text
// of the server is repeated.
func TestAnswers(t *testing.T) {
	t.Parallel()
	answer := func(code int, errorCode string) fault {
		return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.Header().Set("X-Error-Code", errorCode)
			http.Error(w, "text of the server with "+token, code)
		}
	}
	for name, c := range map[string]struct {
		fault fault
		token string
		want  string
	}{
		"gated":     {answer(403, "GatedRepo"), token, "accept the model's terms"},
		"revision":  {answer(404, "RevisionNotFound"), token, `no revision "main"`},
		"absent":    {answer(404, "RepoNotFound"), token, "check id and revision"},
		"anonymous": {answer(401, "RepoNotFound"), "", "give a token"},
		"token":     {answer(401, ""), token, "that the token may read"},
		"teapot":    {answer(418, token), token, "answers 418"},
		"text":      {func(w http.ResponseWriter, _ *http.Request, _ []byte) { fmt.Fprint(w, token) }, token, "not JSON"},
		"commit": {func(w http.ResponseWriter, _ *http.Request, _ []byte) { fmt.Fprintf(w, `{"sha":%q}`, token) },
			token, `of "***", which is not a commit`},
	} {
		s := newServer(t)
		s.fail([]fault{c.fault}, nil)
		client := s.client(t.TempDir())
		client.Token = c.token
		_, err := client.Fetch(t.Context(), model, "main", nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "text of") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if got := s.take(); len(got) != 1 {
			t.Errorf("%s: requests %q", name, got)
		}
	}
}

func TestClientIsPrintedWithoutToken(t *testing.T) {
	t.Parallel()
	c := download.Client{Token: token, Dir: "cache"}
	var w strings.Builder
	slog.New(slog.NewJSONHandler(&w, nil)).Info("x", "value", c, "pointer", &c)
	slog.New(slog.NewTextHandler(&w, nil)).Info("x", "value", c, "pointer", &c)
	text := fmt.Sprintf("%v %+v %#v %s %q %d %v %+v %#v", c, c, c, c, c, c, &c, &c, &c) + w.String()
	if strings.Contains(text, token) || !strings.Contains(text, "cache") {
		t.Error(text)
	}
}

// TestRedirects: to where a hub, or who plays one, may send a client.
func TestRedirects(t *testing.T) {
	t.Parallel()
	to := func(target string) fault {
		return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.Header().Set("Location", target)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	}
	s := newServer(t)
	for target, want := range map[string]string{
		"ftp://example.com/x":      "redirects to an invalid address",
		"file:///etc/passwd":       "redirects to an invalid address",
		"http://u:p@example.com/x": "redirects to an invalid address",
		"http:///x":                "redirects to an invalid address",
	} {
		s.fail([]fault{to(target)}, nil)
		if _, err := s.client(t.TempDir()).Fetch(t.Context(), model, "", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", target, err, want)
		}
	}
	s.take()
	s.fail([]fault{to("/1"), to("/2"), to("/3"), to("/4"), to("/5"), to("/6"), to("/7")}, nil)
	if _, err := s.client(t.TempDir()).Fetch(t.Context(), model, "", nil); err == nil || !strings.Contains(err.Error(), "more than 5 times") || len(s.take()) != 6 {
		t.Errorf("a loop: %v", err)
	}
	s.hubFault = []fault{to("/api/models/" + model + "/revision/main?blobs=true")} // a renamed model
	dir := t.TempDir()
	sameFiles(t, fetch(t, s.client(dir), "", nil), s.files)
	s.clean(t, dir)

	other := httptest.NewServer(http.HandlerFunc(s.serveCDN)) // another port is another origin
	defer other.Close()
	s.fail([]fault{nil, to(strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/" + digest(shard, s.files[shard]))}, nil)
	dir = t.TempDir()
	fetch(t, s.client(dir), "", only(shard))
	s.clean(t, dir)

	gone := httptest.NewServer(nil)
	gone.Close()
	s.fail(append([]fault{nil}, repeat(to(gone.URL+"/?Signature=secret"), 6)...), nil)
	if _, err := s.client(t.TempDir()).Fetch(t.Context(), model, "", only(shard)); err == nil || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "secret") {
		t.Errorf("an address without an answer: %v", err)
	}

	secure := httptest.NewUnstartedServer(to(s.hub.URL + "/api/models/" + model + "/revision/main?blobs=true").handler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of clients that do not know it
	secure.StartTLS()
	defer secure.Close()
	s.take()
	c := &download.Client{Endpoint: secure.URL, Token: token, Dir: t.TempDir(), HTTP: secure.Client()}
	if _, err := c.Fetch(t.Context(), model, "", nil); err == nil || !strings.Contains(err.Error(), "from https to http") || len(s.take()) != 0 {
		t.Errorf("a downgrade: %v", err)
	}
	c.HTTP = nil // does not accept the certificate
	if _, err := c.Fetch(t.Context(), model, "", nil); err == nil || !strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "tried") {
		t.Errorf("an unknown certificate: %v", err)
	}
}

func (f fault) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(w, r, nil) })
}

// TestOtherProgramsCache: what huggingface_hub left is used if its bytes are
// right, and links lead nowhere else.
func TestOtherProgramsCache(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links were NOT tested: Windows demands a privilege")
	}
	for name, c := range map[string]struct {
		blob  []byte
		link  string
		loads bool
	}{
		"right":            {content(2, 300_000), "../../blobs/", false},
		"wrong bytes":      {content(8, 300_000), "../../blobs/", true},
		"cut":              {content(2, 299_999), "../../blobs/", true},
		"link to outside":  {nil, "../../../outside/", true},
		"link to absolute": {nil, "/", true},
	} {
		s, dir := newServer(t), t.TempDir()
		own, sum := filepath.Join(dir, "models--owner--model"), digest(shard, s.files[shard])
		for path, data := range map[string][]byte{filepath.Join(own, "blobs", sum): c.blob, filepath.Join(dir, "outside", sum): s.files[shard]} {
			if data != nil {
				write(t, path, data)
			}
		}
		link := filepath.Join(own, "snapshots", commit, shard)
		write(t, filepath.Join(filepath.Dir(link), "other"), nil)
		if err := os.Symlink(c.link+sum, link); err != nil {
			t.Fatal(err)
		}
		fetch(t, s.client(dir), "", only("config.json")) // from here on the commit is known
		s.take()
		folder := fetch(t, s.client(dir), commit, only("config.json", shard))
		if !sameFile(t, filepath.Join(folder, shard), filepath.Join(own, "blobs", sum)) {
			t.Errorf("%s: the cache has the bytes twice", name)
		}
		if got, err := os.ReadFile(filepath.Join(folder, shard)); err != nil || string(got) != string(s.files[shard]) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if loads := len(s.take()) > 1; loads != c.loads {
			t.Errorf("%s: loaded %t", name, loads)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() != (c.loads && c.blob == nil) {
			t.Errorf("%s: the link is now %v, %v; one that is right stays", name, info.Mode(), err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "outside", sum)); err != nil || string(got) != string(s.files[shard]) {
			t.Errorf("%s: the file outside was changed: %v", name, err)
		}
		s.clean(t, dir)
	}
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.Stat(a)
	y, otherErr := os.Stat(b)
	if err := errors.Join(err, otherErr); err != nil {
		t.Error(err)
	}
	return os.SameFile(x, y)
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestProgress: it ends at the sum, whatever was in the cache before.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.files["b.safetensors"] = content(5, 3<<20)
	c := s.client(t.TempDir())
	fetch(t, c, "", only("config.json"))
	var last download.Progress
	count, whole := 0, map[string]bool{}
	c.Progress = func(p download.Progress) {
		if p.Done < last.Done || p.FileDone > p.FileSize || p.TotalBytes != 3<<20+300_750 || p.FileSize != int64(len(s.files[p.File])) {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
		count++
		whole[p.File] = whole[p.File] || p.FileDone == p.FileSize
	}
	fetch(t, c, "", nil)
	if last.Done != last.TotalBytes || count < len(s.files)+2 || len(whole) != len(s.files) {
		t.Errorf("%d reports, the last %+v, of %v", count, last, whole)
	}
}

// TestCancel: a call ends with its context, while it waits, receives or is
// about to try again.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(s *server, c *download.Client, cancel func()){
		"receiving": func(s *server, _ *download.Client, cancel func()) {
			s.fail(nil, []fault{func(w http.ResponseWriter, r *http.Request, data []byte) {
				_, _ = w.Write(data[:1000])
				_ = http.NewResponseController(w).Flush()
				cancel()
				<-r.Context().Done()
			}})
		},
		"before an answer": func(s *server, _ *download.Client, cancel func()) {
			s.fail([]fault{func(_ http.ResponseWriter, r *http.Request, _ []byte) { cancel(); <-r.Context().Done() }}, nil)
		},
		"between attempts": func(s *server, c *download.Client, cancel func()) {
			c.Sleep = nil
			s.fail([]fault{func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				w.Header().Set("Retry-After", "200")
				w.WriteHeader(http.StatusServiceUnavailable)
				time.AfterFunc(20*time.Millisecond, cancel)
			}}, nil)
		},
	} {
		s := newServer(t)
		c := s.client(t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		prepare(s, c, cancel)
		if _, err := c.Fetch(ctx, model, "", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

// FuzzParseInfo: nothing panics, and what is accepted stays below its folder,
// once, with sizes and digests that are such.
func FuzzParseInfo(f *testing.F) {
	for _, seed := range []string{
		`{"sha":"` + commit + `","siblings":[{"rfilename":"a/b.json","size":3,"blobId":"` + commit + `"},{"rfilename":"m","lfs":{"sha256":"` + strings.Repeat("a", 64) + `","size":9}}]}`,
		`{"sha":"` + commit + `","siblings":[{"rfilename":"../x","size":9223372036854775808}]}`,
		`{"sha":"` + commit + `","siblings":[{"rfilename":"a"},{"rfilename":"a"}]}`,
		`{"sha":null,"siblings":{}}`,
		`{"sha":"` + commit + `","siblings":[{"rfilename":"a","size":-1,"lfs":{"size":-2}}]}`,
		`[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		info, err := download.ParseInfo(text)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, file := range info.Files {
			n := len(file.Digest)
			if seen[file.Name] || !filepath.IsLocal(file.Name) || filepath.Clean(file.Name) != file.Name || file.Size < -1 || n != 0 && n != 40 && n != 64 || strings.Trim(file.Digest, "0123456789abcdef") != "" {
				t.Fatalf("%+v", file)
			}
			seen[file.Name] = true
		}
		if len(info.Commit) != 40 {
			t.Fatalf("commit %q", info.Commit)
		}
	})
}

// BenchmarkFetch gets a file of 64 MiB from a server of this host: redirect,
// transfer, digest, fsync.
func BenchmarkFetch(b *testing.B) {
	s := newServer(b)
	s.files = map[string][]byte{shard: content(1, 64<<20)}
	b.SetBytes(64 << 20)
	for b.Loop() {
		dir := b.TempDir()
		if _, err := s.client(dir).Fetch(b.Context(), model, "", nil); err != nil {
			b.Fatal(err)
		}
		os.RemoveAll(dir)
	}
}
