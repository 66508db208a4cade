package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// serveVariable makes the test binary a server, so that its time is not the
// client's.
const serveVariable = "OPENAI_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		serveStreams()
		return
	}
	os.Exit(m.Run())
}

// A line as vLLM sends it.
const line = `data: {"id":"chatcmpl-8d47ad0cc8a54d0f9f7e6a7b","object":"chat.completion.chunk","created":1780537909,"model":"qwen",` +
	`"choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` + "\n\n"

const lastLines = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n" +
	`data: {"choices":[],"usage":{"prompt_tokens":15,"completion_tokens":10}}` + "\n\ndata: [DONE]\n\n"

// serveStreams answers with ?chunks= chunks, one each ?every= (0: as fast as
// it can), until its input ends.
func serveStreams() {
	server := httptest.NewServer(http.HandlerFunc(streamChunks))
	fmt.Println(server.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
	server.CloseClientConnections()
}

func streamChunks(w http.ResponseWriter, r *http.Request) {
	chunks, _ := strconv.Atoi(r.Header.Get("Chunks"))
	every, _ := time.ParseDuration(r.Header.Get("Every"))
	next := time.Now()
	for range chunks {
		next = next.Add(every)
		time.Sleep(time.Until(next))
		if _, err := io.WriteString(w, line); err != nil {
			return
		}
		w.(http.Flusher).Flush()
	}
	_, _ = io.WriteString(w, lastLines)
}

// otherProcess starts serveStreams in a child and returns its URL.
func otherProcess(tb testing.TB) string {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveVariable+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(url)
}

func benchClient(tb testing.TB, chunks, streams int, every time.Duration) *Client {
	tb.Helper()
	start := time.Now()
	c, err := New(Options{BaseURL: otherProcess(tb), KeepAlive: true, Connections: streams, First: time.Minute, Idle: time.Minute, Total: time.Minute,
		Now: func() time.Duration { return time.Since(start) }})
	if err != nil {
		tb.Fatal(err)
	}
	c.header.Set("Chunks", strconv.Itoa(chunks))
	c.header.Set("Every", every.String())
	tb.Cleanup(c.Close)
	return c
}

func benchBody(tb testing.TB) Body {
	tb.Helper()
	body, err := Encode(Request{Chat: true, Model: "m", Prompt: "p"})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

// lineReader brings one line a read, as a server that flushes each.
type lineReader struct{ rest []byte }

func (l *lineReader) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		return 0, io.EOF
	}
	n := bytes.Index(l.rest, []byte("\n\n")) + 2
	copy(p, l.rest[:n])
	l.rest = l.rest[n:]
	return n, nil
}

const chunksOfBench = 1000

// fromMemory takes one stream through what Stream does behind the transport:
// reading, timers, parsing.
func fromMemory(c *Client, text []byte) Reply {
	ctx, w := c.watch(context.Background())
	defer w.stop()
	var reply Reply
	r := recordings.Get().(*recording)
	defer r.release()
	err := r.read(&lineReader{text}, c.options.Now, func() { w.progress(r) })
	c.conclude(&reply, r, Expect{}, cause(ctx, ctx), err)
	return reply
}

func memoryClient(tb testing.TB) *Client {
	tb.Helper()
	start := time.Now()
	c, err := New(Options{BaseURL: "http://h", First: time.Minute, Idle: time.Minute, Now: func() time.Duration { return time.Since(start) }})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// TestAllocations holds the bound of two for each chunk, parsing included.
func TestAllocations(t *testing.T) {
	c, text := memoryClient(t), []byte(strings.Repeat(line, chunksOfBench)+lastLines)
	perStream := testing.AllocsPerRun(20, func() {
		if r := fromMemory(c, text); r.Outcome != OK || len(r.Tokens) != chunksOfBench {
			t.Fatalf("%s: %s", r.Outcome, r.Reason)
		}
	})
	if perStream > 2*chunksOfBench {
		t.Errorf("%.0f allocations for %d chunks", perStream, chunksOfBench)
	}
}

// BenchmarkChunk compares, for each chunk: the client behind the transport;
// the same lines read by bufio and wholly decoded by encoding/json; and the
// client on a connection to another process, whose time is not counted.
func BenchmarkChunk(b *testing.B) {
	text := []byte(strings.Repeat(line, chunksOfBench) + lastLines)
	b.Run("client", func(b *testing.B) {
		c := memoryClient(b)
		b.ReportAllocs()
		for b.Loop() {
			fromMemory(c, text)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*chunksOfBench), "ns/chunk")
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if decodeAll(&lineReader{text}) != chunksOfBench {
				b.Fatal("chunks are lost")
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*chunksOfBench), "ns/chunk")
	})
	b.Run("connection", func(b *testing.B) {
		c, body := benchClient(b, chunksOfBench, 1, 0), benchBody(b)
		b.ReportAllocs()
		before := cpuTime(b)
		for b.Loop() {
			if r := c.Stream(b.Context(), body, Expect{}); r.Outcome != OK {
				b.Fatalf("%s: %s", r.Outcome, r.Reason)
			}
		}
		b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N*chunksOfBench), "cpu-ns/chunk")
	})
}

// decodeAll is what a client does that parses as it reads.
func decodeAll(in io.Reader) (tokens int) {
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadSlice('\n')
		if err != nil {
			return tokens
		}
		payload, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte("data: "))
		var d decoded
		if ok && json.Unmarshal(payload, &d) == nil && len(d.Choices) > 0 && d.Choices[0].Delta.Content != "" {
			tokens++
		}
	}
}

// BenchmarkStreams256 keeps 256 streams of 100 chunks a second, alternately by the client and by a plain reader of lines on
// net/http, and reports the processor time of both for each chunk, and how many chunks the client reads a second of one core.
func BenchmarkStreams256(b *testing.B) {
	const streams, chunks, every = 256, 300, 10 * time.Millisecond
	c, body := benchClient(b, chunks, streams, every), benchBody(b)
	var client, plain time.Duration
	for b.Loop() {
		client += allStreams(b, streams, func() bool {
			r := c.Stream(b.Context(), body, Expect{})
			return r.Outcome == OK && len(r.Tokens) == chunks
		})
		plain += allStreams(b, streams, func() bool { return plainStream(b, c) == chunks })
	}
	all := float64(b.N * streams * chunks)
	b.ReportMetric(float64(client.Nanoseconds())/all, "cpu-ns/chunk")
	b.ReportMetric(float64(plain.Nanoseconds())/all, "plain-cpu-ns/chunk")
	b.ReportMetric(all/client.Seconds(), "chunks/core-s")
}

// allStreams runs as many streams at once, and returns the processor time of this process.
func allStreams(b *testing.B, n int, whole func() bool) time.Duration {
	before := cpuTime(b)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if !whole() {
				b.Error("a stream failed")
			}
		})
	}
	all.Wait()
	return cpuTime(b) - before
}

// plainStream counts the lines of a stream with content, as a client does that parses nothing.
func plainStream(b *testing.B, c *Client) (chunks int) {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, c.options.BaseURL+"/v1/chat/completions", strings.NewReader("{}"))
	if err != nil {
		b.Error(err)
		return 0
	}
	r.Header = c.header
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if bytes.Contains(lines.Bytes(), []byte(`"content":`)) {
			chunks++
		}
	}
	return chunks
}
