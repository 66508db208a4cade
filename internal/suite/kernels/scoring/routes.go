package scoring

import (
	"net/http"
	"reflect"
)

// route is a request that the server answers. The handler, GET /, GET /docs and
// GET /openapi.json are made of the same routes, and the schemas of the types that the
// answering functions have.
type route struct {
	method, path string // with the names of parameters in braces
	text         string // what the request does, in a few words
	answer       func(*http.Request) (any, error)
	query        string       // name of the parameter behind the path; "" for none
	body         any          // an example of the body; nil for none
	result       reflect.Type // of the answer
}

// pattern is the route for [http.ServeMux].
func (r route) pattern() string {
	if r.path == "/" {
		return r.method + " /{$}"
	}
	return r.method + " " + r.path
}

func get[R any](path, text string, answer func(*http.Request) (R, error)) route {
	return route{method: http.MethodGet, path: path, text: text, result: reflect.TypeFor[R](),
		answer: func(r *http.Request) (any, error) { return answer(r) }}
}

// post is a route whose answer gets the body, decoded strictly.
func post[B, R any](path, text string, example B, answer func(*http.Request, B) (R, error)) route {
	return route{method: http.MethodPost, path: path, text: text, body: example, result: reflect.TypeFor[R](),
		answer: func(r *http.Request) (any, error) {
			var body B
			if err := read(r, &body); err != nil {
				return nil, err
			}
			return answer(r, body)
		}}
}

func (r route) asking(query string) route {
	r.query = query
	return r
}

// routes are all that the server answers.
func (s *Server) routes() []route {
	mine := s.example()
	return []route{
		get("/", "Server info and endpoints", s.about),
		get("/docs", "A page for people: all requests, with examples", s.docs),
		get("/openapi.json", "All requests, as OpenAPI 3.1 describes them", s.openapi),
		get("/health", "Lanes and the length of the queue", s.health),
		get("/definitions", "List all definitions", s.definitions),
		get("/definitions/{name}", "Get a definition by name", s.definition),
		get("/definitions/{name}/workloads", "List workloads of a definition", s.workloads),
		get("/workloads/{uuid}", "Get a workload by UUID", s.workload),
		post("/evaluate", "Submit a solution", mine, s.evaluate),
		post("/profile", "Submit a solution that tools watch if it passes", profiling{mine, s.watching(nil)}, s.profile),
		get("/tasks/{task_id}", "Get a task with its traces and logs; ?timeout=SECONDS waits for them", s.task).asking("timeout"),
		post("/tasks/batch", "Get several tasks", batch{[]string{someTask}, 60}, s.batch),
	}
}

// endpoint is a route for clients.
type endpoint struct {
	Method      string `json:"method"`
	Path        string `json:"path"`
	Description string `json:"description"`
}

// serverInfo is what the server is.
type serverInfo struct {
	Name      string     `json:"name"`
	Docs      string     `json:"docs" jsonschema:"path of a page for people"`
	Endpoints []endpoint `json:"endpoints"`
}

func (s *Server) about(*http.Request) (serverInfo, error) {
	info := serverInfo{Name: "accelgate kernels serve", Docs: "/docs"}
	for _, r := range s.routes() {
		info.Endpoints = append(info.Endpoints, endpoint{r.method, r.path, r.text})
	}
	return info, nil
}
