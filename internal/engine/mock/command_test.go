package mock

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/engine"
)

func run(stdout, stderr io.Writer, ctx context.Context, args []string) int {
	return Run(engine.Command{Stdout: stdout, Stderr: stderr, Now: time.Now}, ctx, args)
}

func TestCommandServesUntilTheEnd(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mock.json")
	if err := os.WriteFile(file, []byte(`{"ttft":"1ms","tokens":3,"model":"file","faults":["no-done"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan int)
	var stderr bytes.Buffer
	go func() {
		ended <- run(in, &stderr, ctx, []string{"--listen", "127.0.0.1:0", "--config", file, "--tokens", "2", "--fault", "no-role"})
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		t.Fatalf("it said %q: %v", line, err)
	}
	response, err := http.Post(address+chatPath, "application/json", strings.NewReader(`{"messages":[{"role":"user","content":""}],"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	text := string(body)
	if err != nil || strings.Count(text, "content") != 2 || strings.Contains(text, "[DONE]") || strings.Contains(text, "role") || !strings.Contains(text, `"model":"file"`) {
		t.Errorf("the flags and the file are not obeyed: %v\n%s", err, text)
	}
	cancel()
	if code := <-ended; code != engine.ExitOK || stderr.Len() > 0 {
		t.Errorf("exit %d: %s", code, &stderr)
	}
}

func TestCommandRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		want string
	}{
		{"--ttft soon", "see `accelgate engine mock -h`"},
		{"--ttft -1s", "choose 0 to 24h"},
		{"--engine tgi", "choose one of vllm, sglang, llamacpp"},
		{"--fault sulk", "choose one of split"},
		{"--fault split:x=1", "choose of at=K"},
		{"--slots -1", "slots -1: choose 0"},
		{"--config /no/such/file", "no such file"},
		{"--listen nowhere", "choose another address"},
		{"8089", "give settings as flags"},
	} {
		var out, stderr bytes.Buffer
		code := run(&out, &stderr, t.Context(), strings.Fields(c.args))
		if code != engine.ExitUsage || out.Len() > 0 || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: exit %d, %q, want 2 and %q", c.args, code, &stderr, c.want)
		}
	}
}

func TestCommandHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	code := run(&out, &out, t.Context(), []string{"-h"})
	for _, k := range kinds() {
		if !strings.Contains(out.String(), string(k)) {
			t.Errorf("the help does not name %s", k)
		}
	}
	if code != engine.ExitOK || strings.Contains(out.String(), "%!") {
		t.Errorf("exit %d:\n%s", code, &out)
	}
}

// TestCommandWithoutOutput: a script that waits for the address would wait for ever.
func TestCommandWithoutOutput(t *testing.T) {
	t.Parallel()
	_, broken := io.Pipe()
	broken.Close()
	var stderr bytes.Buffer
	if code := run(broken, &stderr, t.Context(), []string{"--listen", "127.0.0.1:0"}); code != engine.ExitFailure {
		t.Errorf("exit %d: %s", code, &stderr)
	}
}

// readConfig reads what --config names.
func readConfig(r io.Reader) (c Config, err error) {
	if err = setFlags(c.flags(), r); err == nil {
		err = c.check()
	}
	return c, err
}

func TestReadConfigRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`: "unexpected EOF", `{"tfft":"1ms"}`: "unknown field", `{"ttft":"1"}`: "duration", `{"faults":["x"]}`: "choose one of",
		`{"slots":-1}`: "choose 0", `{} {}`: "more than one",
	} {
		if _, err := readConfig(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add(`{"ttft":"50ms","tpot":"10ms","jitter":"1ms","seed":1,"tokens":128,"slots":4,"model":"m","engine":"vllm","faults":["die:at=2"]}`)
	f.Add(`{"faults":[""]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := readConfig(strings.NewReader(text)); err == nil && c.check() != nil {
			t.Errorf("%s is read though it is wrong: %v", text, c.check())
		}
	})
}
