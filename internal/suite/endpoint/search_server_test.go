package endpoint

import (
	"context"
	"fmt"
	"math"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/engine/mock"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// pipes is a listener whose connections are in memory.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.accept <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// searched searches the programmable server with a seed, on a clock that moves when all wait.
func searched(t *testing.T, seed int, opened *Suite) (result bench.Result) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{accept: make(chan net.Conn), closed: make(chan struct{})}
		server := mock.New(mock.Config{TTFT: 100 * time.Millisecond, Jitter: 10 * time.Millisecond, Seed: uint64(seed), Slots: 2, Listener: p, Now: time.Now})
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		opened.env.Now = time.Now
		cell := opened.cells[0]
		m := &measurement{suite: opened, sender: sender{inputs: opened.inputs, cell: cell, point: opened.points[cell.ID()],
			epoch: time.Now(), url: server.URL, model: "mock"}}
		var err error
		m.client, err = openai.New(openai.Options{BaseURL: server.URL, Connections: 64, KeepAlive: true, Total: time.Minute, Dial: p.dial, Now: m.now})
		if err != nil {
			t.Fatal(err)
		}
		defer m.client.Close()
		result = bench.Result{Cell: cell, Outcome: bench.Passed}
		if err := m.search(t.Context(), &result); err != nil {
			t.Fatal(err)
		}
	})
	return result
}

// searchServer searches a server that answers 19.05 requests a second: two slots that hold each
// request for 100 to 110 ms.
func searchServer(t *testing.T, seeds int) {
	const capacity = 2 / 0.105
	for seed := range seeds {
		s, err := openBody(t, "x.yaml", fmt.Sprintf(`
base_url: http://192.0.2.1
request: {max_tokens: 1}
dataset: {kind: random, n: 100, seed: %d, input: {dist: fixed, value: 8}}
load: {mode: constant, duration: 4s, warmup: {requests: 2, duration: 500ms}}
search: {metric: rate, slo: {ttft_p95_ms: 200, ok_rate: 95%%}, min: %v, max: 100, budget: 1h}`, seed, 8+float64(seed)/4), env(t))
		if err != nil {
			t.Fatal(err)
		}
		r := searched(t, seed, s.(*Suite))
		found := r.Sample("max_rate_at_slo")
		if r.Outcome != bench.Passed || found == nil {
			t.Fatalf("seed %d: %s %s", seed, r.Outcome, r.Reason)
		}
		e := found.Estimates[0]
		t.Logf("seed %d: %.2f req/s (%.2f to %.2f, %d probes)", seed, found.Values[0], e.Low, e.High, len(r.Curve))
		if math.Abs(found.Values[0]/capacity-1) > 0.05 {
			t.Errorf("seed %d found %.2f req/s, want %.2f within 5 %%", seed, found.Values[0], capacity)
		}
	}
}

// TestSearchOfTheProgrammableServerThorough: client, load and server are the real ones, and their time is that of a
// bubble. A seed takes seconds, because the load generator sleeps for real where the system's own sleep is more exact.
func TestSearchOfTheProgrammableServerThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	searchServer(t, 4)
}

// TestSearchOfTheProgrammableServerNightly is the same with ten seeds.
func TestSearchOfTheProgrammableServerNightly(t *testing.T) {
	testtier.Nightly(t)
	t.Parallel()
	searchServer(t, 10)
}
