package gokernel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/worker"
)

const (
	maxRequest = 64 << 20
	heartbeat  = time.Second
)

// Serve is a worker: it answers the requests on in, in the protocol of package
// kernel, until a request to exit, in ends, or ctx is done. Now is the timer of
// the kernels. Nothing else may write to out. The error says that the caller
// does not use the protocol or cannot be reached.
func Serve(ctx context.Context, in io.Reader, out io.Writer, now func() time.Time) error {
	s := &server{now: now, out: out, functions: map[string]*function{"": {}}, tensors: store{}}
	lines, failed := make(chan []byte), make(chan error, 1)
	go read(ctx, in, lines, failed)
	stop := s.beat()
	defer stop()
	for {
		select {
		case line := <-lines:
			if exit, err := s.answer(line); exit || err != nil {
				return err
			}
		case err := <-failed:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read passes lines on until ctx is done or in ends. If Serve has returned it
// may hang in a read, which ends with the process.
func read(ctx context.Context, in io.Reader, lines chan<- []byte, failed chan<- error) {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 64<<10), maxRequest)
	for scanner.Scan() {
		select {
		case lines <- append([]byte(nil), scanner.Bytes()...):
		case <-ctx.Done():
			return
		}
	}
	failed <- scanner.Err()
}

type server struct {
	now       func() time.Time
	mu        sync.Mutex // guards the fields below
	out       io.Writer
	busy      bool
	functions map[string]*function
	tensors   store
	cold      []byte // see coolCaches
}

// beat sends "alive" while a request is worked on. Stop waits for it to end.
func (s *server) beat() (stop func()) {
	ticker, quit := time.NewTicker(heartbeat), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-ticker.C:
				s.mu.Lock()
				if s.busy {
					_, _ = io.WriteString(s.out, "{\"event\":\"alive\"}\n") // the reply reports an error
				}
				s.mu.Unlock()
			case <-quit:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(quit)
		group.Wait()
	}
}

func (s *server) setBusy(busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = busy
}

// answer serves one request.
func (s *server) answer(line []byte) (exit bool, err error) {
	var head struct {
		Seq *uint64 `json:"seq"`
		Op  string  `json:"op"`
	}
	if err := json.Unmarshal(line, &head); err != nil || head.Seq == nil {
		return false, fmt.Errorf("a request is not a JSON object with a seq: use %s", harness.Proto)
	}
	s.setBusy(true)
	start := s.now()
	reply, problem := s.perform(head.Op, line)
	text := encode(*head.Seq, reply, problem, s.now().Sub(start))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	_, err = s.out.Write(text)
	return head.Op == "exit", err
}

func encode(seq uint64, reply any, problem error, took time.Duration) []byte {
	line := strconv.AppendUint([]byte(`{"seq":`), seq, 10)
	fields, err := json.Marshal(reply)
	if problem = errors.Join(problem, err); problem != nil {
		fields, _ = json.Marshal(map[string]harness.Problem{"error": describe(problem)}) // of strings: cannot fail
		line = append(line, `,"ok":false`...)
	} else {
		line = append(line, `,"ok":true`...)
	}
	if len(fields) > 2 && fields[0] == '{' {
		line = append(append(line, ','), fields[1:len(fields)-1]...)
	}
	line = append(line, `,"host_ns":`...)
	return append(strconv.AppendInt(line, took.Nanoseconds(), 10), '}', '\n')
}

// refusal is an error of another kind than runtime.
type refusal struct {
	kind  harness.Kind
	trace string
	error
}

func describe(err error) harness.Problem {
	p := harness.Problem{Kind: harness.Runtime, Message: err.Error()}
	var r refusal
	if errors.As(err, &r) {
		p.Kind, p.Trace = r.kind, r.trace
	}
	return p
}

// perform does what a request says. A panic is the request's failure and not the
// worker's end.
func (s *server) perform(op string, line []byte) (reply any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = refusal{harness.Runtime, string(debug.Stack()), fmt.Errorf("panic: %v", r)}
		}
	}()
	switch op {
	case "hello":
		return with(line, s.hello)
	case "build":
		return with(line, s.build)
	case "setup":
		return with(line, s.setup)
	case "tensor":
		return with(line, s.tensors.make)
	case "run":
		return with(line, s.run)
	case "save":
		return with(line, s.save)
	case "time":
		return with(line, s.time)
	case "check":
		return harness.CheckReply{Health: "ok"}, nil
	case "release":
		return with(line, s.tensors.release)
	case "exit":
		return nil, nil
	}
	return nil, refusal{harness.Unsupported, "", fmt.Errorf("unknown operation %.40q", op)}
}

// with decodes a request for its handler.
func with[Q, R any](line []byte, handle func(Q) (R, error)) (any, error) {
	var request Q
	if err := json.Unmarshal(line, &request); err != nil {
		return nil, err
	}
	return handle(request)
}

func (s *server) hello(q harness.Hello) (harness.HelloReply, error) {
	if q.Proto != harness.Proto || q.Device != "" && q.Device != "cpu" {
		return harness.HelloReply{}, refusal{harness.Unsupported, "", fmt.Errorf("this worker uses %s, on the device cpu", harness.Proto)}
	}
	if q.Private {
		if err := worker.Conceal(); err != nil {
			return harness.HelloReply{}, err
		}
	}
	return harness.HelloReply{
		Kind: "go", Proto: harness.Proto, PID: os.Getpid(),
		Devices: []harness.Device{{ID: "cpu", Name: runtime.GOARCH, Kind: "cpu"}},
		Libs:    map[string]string{"go": runtime.Version()},
		Timers:  []string{"wall"}, DTypes: dtypes,
	}, nil
}
