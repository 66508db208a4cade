package mock

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// childArgs in the environment makes the test binary the command, with these
// arguments.
const childArgs = "OPENAITEST_MOCK_ARGS"

func TestMain(m *testing.M) {
	args, child := os.LookupEnv(childArgs)
	if !child {
		os.Exit(m.Run())
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(os.Stdout, os.Stderr, ctx, strings.Fields(args))
	cancel()
	os.Exit(code)
}

// mockProcess starts the command in a process of its own. The returned function
// ends it and returns the processor time that it took.
func mockProcess(b *testing.B, args string) (address string, end func() time.Duration) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childArgs+"="+args)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(line), "listening on "), func() time.Duration {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
}

// BenchmarkStreams is a client in this process and the mock in another:
// TTFT 50 ms, TPOT 10 ms, 101 tokens. It reports the medians that the client
// sees, the mock's processor time for a token, and how many processors the mock
// took. An operation is one request of every stream.
func BenchmarkStreams(b *testing.B) {
	for _, streams := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprint(streams), func(b *testing.B) {
			address, end := mockProcess(b, "--listen 127.0.0.1:0 --ttft 50ms --tpot 10ms")
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams, DisableCompression: true}}
			defer client.CloseIdleConnections()
			var ttft, tpot []float64
			var wg sync.WaitGroup
			var mu sync.Mutex
			began := time.Now()
			for i := range streams {
				wg.Go(func() {
					time.Sleep(time.Duration(i) * time.Second / time.Duration(streams)) // not in step
					for range b.N {
						first, each := measure(b, client, address)
						mu.Lock()
						ttft, tpot = append(ttft, first), append(tpot, each)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			wall := time.Since(began)
			used := end()
			b.ReportMetric(median(ttft), "ttft-ms")
			b.ReportMetric(median(tpot), "tpot-ms")
			b.ReportMetric(float64(used.Microseconds())/float64(101*streams*b.N), "server-us/token")
			b.ReportMetric(used.Seconds()/wall.Seconds(), "server-cores")
		})
	}
}

// measure returns milliseconds.
func measure(b *testing.B, client *http.Client, address string) (ttft, tpot float64) {
	body := strings.NewReader(`{"messages":[{"role":"user","content":"x"}],"stream":true,"max_tokens":101}`)
	sent := time.Now()
	response, err := client.Post(address+chatPath, "application/json", body)
	if err != nil {
		b.Error(err)
		return 0, 0
	}
	defer response.Body.Close()
	var first, last time.Time
	tokens := 0
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			if err != io.EOF || tokens != 101 {
				b.Errorf("%d tokens and then %v", tokens, err)
			}
			break
		}
		if bytes.Contains(line, []byte(`{"content":" `)) || bytes.Contains(line, []byte(`{"content":"."`)) || bytes.Contains(line, []byte(`{"content":"\n"`)) {
			last = time.Now()
			if tokens++; tokens == 1 {
				first = last
			}
		}
	}
	return first.Sub(sent).Seconds() * 1e3, last.Sub(first).Seconds() * 1e3 / 100
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// BenchmarkPacing compares the pacer with timers of the runtime: how late the
// median token of as many streams is. An operation is a second of streaming.
func BenchmarkPacing(b *testing.B) {
	for _, streams := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("pacer/%d", streams), func(b *testing.B) {
			p, err := newPacer(time.Now, false)
			if err != nil {
				b.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Go(p.run)
			lateness(b, streams, func() func(time.Time) {
				a := newAlarm()
				return func(due time.Time) { p.wait(nil, nil, a, due) }
			})
			p.close()
			wg.Wait()
		})
		b.Run(fmt.Sprintf("timers/%d", streams), func(b *testing.B) {
			lateness(b, streams, func() func(time.Time) {
				return func(due time.Time) { time.Sleep(time.Until(due)) }
			})
		})
	}
}

func lateness(b *testing.B, streams int, stream func() func(time.Time)) {
	var mu sync.Mutex
	var late []float64
	for b.Loop() {
		var wg sync.WaitGroup
		start := time.Now()
		for i := range streams {
			wg.Go(func() {
				sleep := stream()
				offset := time.Duration(i) * 10 * time.Millisecond / time.Duration(streams)
				all := make([]float64, 0, 100)
				for token := range 100 {
					due := start.Add(offset + time.Duration(token+1)*10*time.Millisecond)
					sleep(due)
					all = append(all, float64(time.Since(due).Nanoseconds())/1e3)
				}
				mu.Lock()
				defer mu.Unlock()
				late = append(late, all...)
			})
		}
		wg.Wait()
	}
	b.ReportMetric(median(late), "late-us")
}
