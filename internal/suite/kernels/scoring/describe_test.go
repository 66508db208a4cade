package scoring_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/accelgate/accelgate/internal/suite/kernels/scoring"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func init() { openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.FileBodyDecoder) }

// described has the server's own description, which is read once, when it is needed.
func described(s *served) *served {
	var once sync.Once
	var router routers.Router
	s.contract = func(t testing.TB) routers.Router {
		t.Helper()
		once.Do(func() { router = s.describe(t) })
		return router
	}
	return s
}

func (s *served) document(t testing.TB) *openapi3.T {
	t.Helper()
	_, resp, text := s.send(t, "GET", "/openapi.json", "", "Authorization", "Bearer "+s.token)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err == nil {
		err = doc.Validate(t.Context())
	}
	if err != nil || resp.StatusCode != 200 || !doc.IsOpenAPI31OrLater() {
		t.Fatalf("%d, %v: %.300s", resp.StatusCode, err, text)
	}
	return doc
}

func (s *served) describe(t testing.TB) routers.Router {
	t.Helper()
	doc := s.document(t)
	doc.Servers = openapi3.Servers{{URL: s.address}}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return router
}

// judge compares a request that was accepted, and every answer, with the description.
func (s *served) judge(t testing.TB, r *http.Request, body string, resp *http.Response, text []byte) {
	t.Helper()
	r.Body, r.Host = io.NopCloser(strings.NewReader(body)), r.URL.Host
	route, params, err := s.contract(t).FindRoute(r)
	if err != nil {
		if resp.StatusCode < 400 {
			t.Errorf("%s %s is not described and answered with %d: %v", r.Method, r.URL.Path, resp.StatusCode, err)
		}
		return
	}
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true,
		SchemaValidationOptions: []openapi3.SchemaValidationOption{openapi3.EnableJSONSchema2020()}}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: options}
	if resp.StatusCode == 200 {
		if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
			t.Errorf("%s %s is accepted and not as described: %v", r.Method, r.URL.Path, err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: resp.StatusCode, Header: resp.Header, Body: io.NopCloser(bytes.NewReader(text)), Options: options}
	if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
		t.Errorf("%s %s answers not as described: %v: %.300s", r.Method, r.URL.Path, err, text)
	}
}

// TestDescription: the description, the page and GET / list the same requests, and the
// example of each is accepted.
func TestDescription(t *testing.T) {
	t.Parallel()
	s := serve(t, scoring.Options{})
	task := s.submit(t, `{"solution":`+solution("s", "")+`}`).ID
	_, about := s.ask(t, "GET", "/", "")
	_, page := s.ask(t, "GET", "/docs", "")
	var info struct {
		Endpoints []struct{ Method, Path string }
	}
	if err := json.Unmarshal([]byte(about), &info); err != nil {
		t.Fatal(err)
	}
	var listed, described []string
	for _, e := range info.Endpoints {
		listed = append(listed, e.Method+" "+e.Path)
	}
	for path, item := range s.document(t).Paths.Map() {
		for method, o := range item.Operations() {
			described = append(described, method+" "+path)
			if !strings.Contains(page, "<code>"+method+" "+path+"</code>") {
				t.Errorf("%s %s is not on the page", method, path)
			}
			for _, p := range o.Parameters {
				if p.Value.In == "path" {
					path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", p.Value.Example.(string))
				}
			}
			body := ""
			if o.RequestBody != nil {
				text, err := json.Marshal(o.RequestBody.Value.Content["application/json"].Example)
				if err != nil {
					t.Fatal(err)
				}
				body = string(text)
			}
			if code, text := s.ask(t, method, strings.ReplaceAll(path, "TASK_ID", task), strings.ReplaceAll(body, "TASK_ID", task)); code != 200 {
				t.Errorf("%s %s: %d, %s", method, path, code, text)
			}
		}
	}
	slices.Sort(listed)
	slices.Sort(described)
	if len(listed) < 12 || !slices.Equal(listed, described) {
		t.Errorf("GET / lists %q, /openapi.json %q", listed, described)
	}
}

// TestRoutesAreInTheTable: no request is served beside the table of routes, which the
// description is made of, but for those that are refused.
func TestRoutesAreInTheTable(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			found = append(found, registered.FindAllString(string(text), -1)...)
		}
	}
	if want := []string{"mux.HandleFunc(route.pattern()", `mux.HandleFunc("/"`}; !slices.Equal(found, want) {
		t.Errorf("served are %q, want %q", found, want)
	}
}

var registered = regexp.MustCompile(`\w+\.Handle(Func)?\([^,]*`)

var command = regexp.MustCompile(`(?s)<pre>(.*?)</pre>`)

// TestPage: the page loads nothing from elsewhere, and its commands work when typed, with
// a token as well; each starts curl.
func TestPage(t *testing.T) {
	t.Parallel()
	s := serve(t, scoring.Options{Token: "it's"})
	_, resp, text := s.send(t, "GET", "/docs", "", "Authorization", "Bearer it's", "Host", "evil.example")
	page := string(text)
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%v", resp.Header)
	}
	if strings.Contains(page, "evil.example") || strings.Contains(page, "<script") || strings.Contains(page, "src=") || strings.Contains(page, "it&#39;s") {
		t.Errorf("%s", page)
	}
	commands := command.FindAllStringSubmatch(page, -1)
	if len(commands) < 12 || !strings.Contains(page, "allowed are [ncu compute-sanitizer]") {
		t.Errorf("%d commands: %s", len(commands), page)
	}
	curl, err := exec.LookPath("curl")
	if _, noShell := exec.LookPath("sh"); err != nil || noShell != nil {
		testtier.Missing(t, "sh and curl: the page's commands were NOT tried")
	}
	for _, c := range commands {
		typed := strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&", "&#43;", "+", "curl ", curl+" -sS --fail-with-body ").Replace(c[1])
		shell := exec.CommandContext(t.Context(), "sh", "-c", typed)
		shell.Env = []string{"TOKEN=it's"}
		out, err := shell.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "Task not found") {
			t.Errorf("%s: %v, %s", typed, err, out)
		}
	}
}
