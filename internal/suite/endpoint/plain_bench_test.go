package endpoint

import (
	"bufio"
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// BenchmarkBesidePlain compares the client with a plain reader on net/http in
// the same run, alternately: 256 streams at once of a server in a process of
// its own whose first token comes after 50 ms. The medians of both are
// reported, and their ratio, on an idle host and beside two busy processes.
func BenchmarkBesidePlain(b *testing.B) {
	for name, busy := range map[string]int{"idle": 0, "busy": 2} {
		b.Run(name, func(b *testing.B) {
			for range busy {
				beside(b, "busy")
			}
			url := fakeProcess(b)
			client := plainClient()
			var ours, plain []time.Duration
			for b.Loop() {
				plain = append(plain, streamsAtOnce(func() time.Duration { return plainTTFT(b, client, url) })...)
				ours = append(ours, streamsAtOnce(ourTTFT(b, url))...)
			}
			a, p := middle(ours), middle(plain)
			b.ReportMetric(float64(a)/1e6, "ours-ms")
			b.ReportMetric(float64(p)/1e6, "plain-ms")
			b.ReportMetric(float64(a)/float64(p), "ratio")
		})
	}
}

const streams = 256

// streamsAtOnce runs all streams at once, twice, and returns what the second pass
// took: connections are open by then.
func streamsAtOnce(one func() time.Duration) []time.Duration {
	took := make([]time.Duration, streams)
	for range 2 {
		var all sync.WaitGroup
		for i := range took {
			all.Go(func() { took[i] = one() })
		}
		all.Wait()
	}
	return took
}

func middle(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// beside starts this test's binary as another program.
func beside(b *testing.B, args ...string) *exec.Cmd {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"engine"}, args...)...)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// fakeProcess starts the fake server and returns its address once it answers.
func fakeProcess(b *testing.B) string {
	b.Helper()
	port, err := freePort()
	if err != nil {
		b.Fatal(err)
	}
	beside(b, "mock", "--listen", "127.0.0.1:"+port, "--ttft", "50ms", "--tpot", "10ms")
	url := "http://127.0.0.1:" + port
	c, err := openai.New(openai.Options{BaseURL: url, Now: sinceNow()})
	if err == nil {
		err = c.WaitReady(b.Context(), 20*time.Millisecond)
	}
	if err != nil {
		b.Fatal(err)
	}
	return url
}

func sinceNow() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) + 1 }
}

func ourTTFT(b *testing.B, url string) func() time.Duration {
	b.Helper()
	c, err := openai.New(openai.Options{BaseURL: url, Connections: streams, KeepAlive: true, Now: sinceNow()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	body, err := openai.Encode(openai.Request{Chat: true, Model: "mock", Prompt: "hello", MaxTokens: 16})
	if err != nil {
		b.Fatal(err)
	}
	c.Warm(b.Context(), streams)
	return func() time.Duration {
		r := c.Stream(b.Context(), body, openai.Expect{MaxTokens: 16})
		if r.Outcome != openai.OK {
			b.Error(r.Outcome, r.Reason)
		}
		return r.First - r.Send
	}
}

func plainClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams, DisableCompression: true}}
}

// plainTTFT reads a stream line by line and notes the first content.
func plainTTFT(b *testing.B, c *http.Client, url string) (first time.Duration) {
	const body = `{"model":"mock","messages":[{"role":"user","content":"hello"}],"max_tokens":16,"stream":true}`
	sent := time.Now()
	resp, err := c.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return 0
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if first == 0 && bytes.Contains(lines.Bytes(), []byte(`"content":" `)) {
			first = time.Since(sent)
		}
	}
	return first
}
