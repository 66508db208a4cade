package script

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// request sends a request, JSON from a file if there is one, and prints status code and
// answer: http GET $ADDRESS/health, http POST $ADDRESS/evaluate body.json 'Name: value'...
func request(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: http METHOD URL [FILE ['Name: value'...]]")
	}
	var body io.Reader
	if len(args) > 2 {
		body = strings.NewReader(ts.ReadFile(args[2]))
	}
	r, err := http.NewRequest(args[0], args[1], body)
	ts.Check(err)
	r.Header.Set("Content-Type", "application/json")
	for _, header := range args[min(3, len(args)):] {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	client := http.Client{Timeout: 2 * time.Minute}
	resp, err := client.Do(r)
	ts.Check(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	ts.Check(err)
	_, err = io.WriteString(ts.Stdout(), resp.Status[:3]+" "+string(text))
	ts.Check(err)
}
