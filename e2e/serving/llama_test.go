package serving_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestLlamaServerThorough measures llama.cpp's own server with the five suites that ship with accelgate. Each answered request must
// stand in the server's log with the same counts and the times that the server reported. The client's own times are logged, not judged.
func TestLlamaServerThorough(t *testing.T) {
	testtier.Thorough(t)
	server := startLlama(t)
	dir := t.TempDir()
	config, err := os.ReadFile(filepath.Join("testdata", "llama.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "accelgate.yaml"), bytes.ReplaceAll(config, []byte("http://127.0.0.1:8080"), []byte(server.url)))
	write(t, filepath.Join(dir, "sharegpt.json"), []byte(`[{"conversations": [{"from": "human", "value": "how are you"}, {"from": "gpt", "value": "well"}]},
		{"conversations": [{"from": "human", "value": "name a town by the sea"}, {"from": "gpt", "value": "kiel"}]}]`))
	accelgate(t, dir, "run", "--ab", "off")
	accelgate(t, dir, "bench", "run", "llm.inference.code-completion", "--base-url", server.url, "--sweep", "1,2", "--requests", "8", "--max-tokens", "8")
	served := server.stop(t)
	if run, err := os.ReadFile(filepath.Join(dir, ".accelgate", "run.json")); err != nil || !bytes.Contains(run, []byte(`"metric": "server_running_max"`)) {
		t.Errorf("the run has nothing of the server's /metrics (%v)", err)
	}

	answered := map[string]int{}
	for _, folder := range []string{".accelgate", "results"} {
		for name, requests := range samples(t, filepath.Join(dir, folder)) {
			answered[name] = compare(t, name, requests, served)
		}
	}
	want := map[string]int{"chatbot-short-c1": 12, "chatbot-short-c4": 12, "code-completion-c1": 12, "long-context-rps8": 10, "rag-style-rps16": 16,
		"sharegpt-v3-rps8": 8, "llm.inference.code-completion-c1": 8, "llm.inference.code-completion-c2": 8}
	if !maps.Equal(answered, want) {
		t.Errorf("answered in the window: %v, want %v", answered, want)
	}
}

// request is a line of a samples file.
type request struct {
	OK                    bool
	Phase, Outcome, Error string
	Send                  int64   `json:"send_ns"`
	First                 int64   `json:"first_ns"`
	EOF                   int64   `json:"eof_ns"`
	Gaps                  []int   `json:"gaps_ns"`
	In                    int     `json:"tokens_in"`
	Out                   int     `json:"tokens_out"`
	Cached                int     `json:"cached_tokens"`
	TPOT                  float64 `json:"tpot_ms"`
	PromptMS              float64 `json:"server_prompt_ms"`
	DecodeMS              float64 `json:"server_decode_ms"`
}

// serving is what the server's log says of one request: tokens that it processed and generated, and their times as it prints them.
type serving struct {
	prompt, output     int
	promptMS, decodeMS string
}

// compare checks the requests of one load against the log and returns how many were answered in the window. Other requests, of the
// cool-down, are in the log alone.
func compare(t *testing.T, name string, requests []request, served map[serving]int) (answered int) {
	t.Helper()
	cached := 0
	var first, each []float64 // ms between the client's and the server's
	for i, r := range requests {
		key := serving{r.In - r.Cached, r.Out, fmt.Sprintf("%.2f", r.PromptMS), fmt.Sprintf("%.2f", r.DecodeMS)}
		switch ttft := float64(r.First-r.Send) / 1e6; {
		case !r.OK:
			t.Errorf("%s: request %d: %s %s", name, i, r.Outcome, r.Error)
		case served[key] == 0:
			t.Errorf("%s: request %d: the server's log has no %+v", name, i, key)
		case len(r.Gaps) != r.Out:
			t.Errorf("%s: request %d: %d tokens in %d chunks", name, i, r.Out, len(r.Gaps))
		case ttft < r.PromptMS || float64(r.EOF-r.Send)/1e6 < r.PromptMS+r.DecodeMS:
			t.Errorf("%s: request %d: first token after %g ms, end after %g ms; the server took %g ms and %g ms", name, i,
				ttft, float64(r.EOF-r.Send)/1e6, r.PromptMS, r.DecodeMS)
		default:
			served[key]--
			first, each = append(first, ttft-r.PromptMS), append(each, r.TPOT-r.DecodeMS/float64(r.Out-1))
		}
		if cached += r.Cached; r.OK && r.Phase == "measure" {
			answered++
		}
	}
	if name == "rag-style-rps16" && cached == 0 {
		t.Errorf("%s: no token came from the server's cache", name)
	}
	if len(first) > 0 {
		slices.Sort(first)
		slices.Sort(each)
		t.Logf("%s: %d requests agree; client above server, median: TTFT %.3f ms, TPOT %.4f ms", name, len(first), first[len(first)/2], each[len(each)/2])
	}
	return answered
}

var samplesName = regexp.MustCompile(`^samples-(.+)-\d+\.jsonl$`)

// samples reads the samples files of a folder, by the cell in their names.
func samples(t *testing.T, dir string) map[string][]request {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]request{}
	for _, file := range files {
		m := samplesName.FindStringSubmatch(file.Name())
		if m == nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var r request
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			all[m[1]] = append(all[m[1]], r)
		}
	}
	return all
}

// llama is a server that runs.
type llama struct {
	url, log string
	command  *exec.Cmd
}

var listening = regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+)`)

// llamaPrograms returns the folder of llama.cpp's programs.
func llamaPrograms(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(cmp.Or(os.Getenv("ACCELGATE_TOOLS"), filepath.Join("..", "..", ".tools")), "llama.cpp"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "llama-server")); err != nil {
		testtier.Missing(t, "llama.cpp's own programs were NOT run: run .ci/llama, which needs npm, its registry, g++ and git")
	}
	return dir
}

// startLlama starts llama-server with a generated model on a free port, with four slots and one thread, which does not wait for others.
func startLlama(t *testing.T) *llama {
	t.Helper()
	program := filepath.Join(llamaPrograms(t), "llama-server")
	dir := t.TempDir()
	model := filepath.Join(dir, "random.gguf")
	writeModel(t, model)
	s := &llama{log: filepath.Join(dir, "log")}
	s.command = exec.Command(program, "-m", model, "--host", "127.0.0.1", "--port", "0", "-np", "4", "-c", strconv.Itoa(context), "-t", "1", "--metrics", "--offline")
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	s.command.Stdout, s.command.Stderr = log, log
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = log.Close()
	t.Cleanup(func() { _ = s.command.Process.Kill() })
	for range 600 { // 60 s, for hosts that do other things
		text, _ := os.ReadFile(s.log)
		if m := listening.FindSubmatch(text); m != nil {
			s.url = string(m[1])
			return s
		}
		time.Sleep(100 * time.Millisecond)
	}
	text, _ := os.ReadFile(s.log)
	t.Fatalf("llama-server does not listen:\n%s", text)
	return nil
}

var timing = regexp.MustCompile(`\| task (\d+) \| (prompt eval|\s*eval) time =\s+([\d.]+) ms /\s+(\d+) tokens`)

// stop ends the server and returns how often its log has each request.
func (s *llama) stop(t *testing.T) map[serving]int {
	t.Helper()
	if err := s.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatalf("the server ended by itself: %v", err)
	}
	_ = s.command.Wait() // its exit code is that of a signal
	file, err := os.Open(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tasks := map[string]serving{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		m := timing.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		task, tokens := tasks[m[1]], 0
		if tokens, err = strconv.Atoi(m[4]); err != nil {
			t.Fatal(err)
		}
		if m[2] == "prompt eval" {
			task.prompt, task.promptMS = tokens, m[3]
		} else {
			task.output, task.decodeMS = tokens, m[3]
		}
		tasks[m[1]] = task
	}
	served := map[serving]int{}
	for _, task := range tasks {
		served[task]++
	}
	return served
}

// accelgate runs the program, which must succeed.
func accelgate(t *testing.T, dir string, args ...string) {
	t.Helper()
	command := exec.Command("accelgate", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "ACCELGATE_HOST_LABEL=desk", "ACCELGATE_HEALTH=off", "XDG_STATE_HOME="+filepath.Join(dir, ".state"))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("accelgate %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
