package setup

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/sources"
)

// found has a suite that runs, one that lacks a model, and one that cannot run.
func found() *Found {
	r := &repository{files: &sources.Files{}, Options: Options{Getenv: func(string) string { return "" }}}
	return &Found{look: r, Branch: "main", Host: bench.Host{Label: "desk"}, Suites: []Suite{
		{Name: "go", Body: []string{"kind: exec"}},
		{Name: "llama", Missing: "write the path", Model: &Model{Question: "Path", With: func(model string) Suite { return r.llamaSuite("llama-bench", model) }}},
		{Name: "vllm", Missing: "install vLLM"},
	}}
}

func TestAsk(t *testing.T) {
	for name, test := range map[string]struct {
		typed, want string // names of the suites that run
		hosts       []string
	}{
		"defaults":    {"\n\n\n", "go", nil},
		"end of file": {"", "go", nil},
		"a model":     {"all\n/models/My Model.gguf\ngpu-a, gpu-b,gpu-a\n", "go llama", []string{"gpu-a", "gpu-b"}},
		"a choice":    {"llama vllm\nlater\nmac\n", "", []string{"mac"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := found()
			var out bytes.Buffer
			a, err := f.Ask(t.Context(), strings.NewReader(test.typed), &out, Answers{})
			if err != nil {
				t.Fatal(err)
			}
			var runs []string
			for _, s := range f.runs() {
				runs = append(runs, s.Name)
			}
			if strings.Join(runs, " ") != test.want || !slices.Equal(a.Hosts, test.hosts) {
				t.Errorf("got suites %q and hosts %q", runs, a.Hosts)
			}
			if n := strings.Count(out.String(), "]: "); n == 0 || n > 4 {
				t.Errorf("asked %d questions", n)
			}
		})
	}
}

func TestAnswersThatCannotBeUsed(t *testing.T) {
	for typed, want := range map[string]string{
		"gone\n":            `no suite "gone" was found`,
		"\n{model}\n":       "has a character",
		"\n\nGPU\n":         "cannot name a file",
		"\n\n../../../up\n": "cannot name a file",
	} {
		_, err := found().Ask(t.Context(), strings.NewReader(typed), &bytes.Buffer{}, Answers{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", typed, err)
		}
	}
}

func TestAskForAServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	f := found()
	f.Suites = nil
	if _, err := f.Ask(t.Context(), strings.NewReader(server.URL+"/v1\n\n"), &bytes.Buffer{}, Answers{}); err != nil {
		t.Fatal(err)
	}
	if cells, _ := written(t, f); len(cells["chat"]) != 2 {
		t.Errorf("got %v", cells)
	}
}
