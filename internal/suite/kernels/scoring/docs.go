package scoring

import (
	"bytes"
	_ "embed" // of docs.html
	"encoding/json"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
)

// page is HTML without scripts.
type page []byte

//go:embed docs.html
var docsText string

var docsPage = sync.OnceValue(func() *template.Template { return template.Must(template.New("docs").Parse(docsText)) })

// row is a route on the page.
type row struct {
	Method, Path, Text, Command string
	Keys                        []key
}

// key is a key of a body.
type key struct{ Name, Text string }

func (s *Server) docs(r *http.Request) (page, error) {
	address := "127.0.0.1:8000"
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok { // not the header Host, which the client chooses
		address = a.String()
	}
	var rows []row
	for _, r := range s.routes() {
		one, err := s.row(r, address)
		if err != nil {
			return nil, err
		}
		rows = append(rows, one)
	}
	var b bytes.Buffer
	err := docsPage().Execute(&b, rows)
	return b.Bytes(), err
}

func (s *Server) row(r route, address string) (row, error) {
	keys, err := s.keys(r)
	if err != nil {
		return row{}, err
	}
	command, err := s.command(r, address)
	return row{r.method, r.path, r.text, command, keys}, err
}

func (s *Server) keys(r route) (keys []key, err error) {
	if r.body == nil {
		return nil, nil
	}
	schema, err := s.schema(reflect.TypeOf(r.body))
	if err != nil {
		return nil, err
	}
	for _, name := range schema.PropertyOrder {
		p := schema.Properties[name]
		k := key{name, p.Description}
		if p.Items != nil && len(p.Items.Enum) > 0 {
			k.Text += fmt.Sprintf("; allowed are %v", p.Items.Enum)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// command is one for a shell that makes the request.
func (s *Server) command(r route, address string) (string, error) {
	words := []string{"curl"}
	if s.Token != "" {
		words = append(words, `-H "Authorization: Bearer $TOKEN"`)
	}
	if r.body != nil {
		body, err := json.Marshal(r.body)
		if err != nil {
			return "", err
		}
		words = append(words, fmt.Sprintf(`-H 'Content-Type: application/json' -d '%s'`, strings.ReplaceAll(string(body), "'", `\u0027`)))
	}
	return strings.Join(append(words, "'http://"+address+s.filled(r)+"'"), " "), nil
}

// filled is the path with its parameters.
func (s *Server) filled(r route) string {
	known := s.parameters()
	path := braces.ReplaceAllStringFunc(r.path, func(name string) string { return url.PathEscape(known[strings.Trim(name, "{}")].example) })
	if r.query != "" {
		path += "?" + r.query + "=" + known[r.query].example
	}
	return path
}
