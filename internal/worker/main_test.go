package worker_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

// The test binary is its own child: childMode names one of the programs below.
const (
	childMode = "WORKER_TEST_CHILD"
	childArg  = "WORKER_TEST_ARG"
	childAddr = "WORKER_TEST_ADDR"
)

// cleanUp are folders that tests share.
var cleanUp []string

func TestMain(m *testing.M) {
	mode := os.Getenv(childMode)
	if mode == "" {
		code := m.Run()
		for _, dir := range cleanUp {
			_ = os.RemoveAll(dir)
		}
		os.Exit(code)
	}
	maps.Copy(programs, systemPrograms)
	program, ok := programs[mode]
	if !ok {
		fmt.Fprintf(os.Stderr, "no test program %q\n", mode)
		os.Exit(99)
	}
	program(os.Getenv(childArg))
}

var programs = map[string]func(arg string){
	"server": server,
	// noop answers everything at once.
	"noop": func(string) {
		for in := bufio.NewReader(os.Stdin); ; {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			id, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte(`{"id":`)), []byte{','})
			os.Stdout.Write(fmt.Appendf(nil, "{\"id\":%s,\"result\":{}}\n", id))
		}
	},
	"exit": func(arg string) {
		fmt.Println("to stdout")
		fmt.Fprintln(os.Stderr, "to stderr")
		code, _ := strconv.Atoi(arg)
		os.Exit(code)
	},
	"print": func(arg string) { fmt.Print(arg) },
	"log": func(arg string) {
		for i := range 100 {
			fmt.Println("line", i)
		}
		fmt.Print("10%\r50%\r100%\r\n" + strings.Repeat("x", 5000) + "\nno newline \xff")
	},
	"environ": func(string) { fmt.Print(strings.Join(os.Environ(), "\n")) },
	"dir": func(string) {
		dir, _ := os.Getwd()
		fmt.Print(dir)
	},
	"flood": func(arg string) {
		mib, _ := strconv.Atoi(arg)
		chunk := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
		for range mib {
			os.Stdout.Write(chunk)
			os.Stderr.Write(chunk)
		}
		fmt.Fprint(os.Stderr, "the end")
	},
	// report writes to the test that it lives and exits when told to: 7 on SIGTERM.
	"report": func(string) {
		terminated := make(chan os.Signal, 1)
		signal.Notify(terminated, terminate)
		dial("here")
		<-terminated
		os.Exit(7)
	},
	// hold does the same and cannot be asked to end.
	"hold": func(string) {
		signal.Ignore(terminate)
		_, _ = io.Copy(io.Discard, dial("here"))
	},
	// parent leaves a "hold" behind that keeps both pipes, and exits or stays.
	"parent": func(arg string) {
		start("hold", false)
		stayOrExit(arg)
	},
	// daemon leaves one behind that also left the process group.
	"daemon": func(arg string) {
		start("hold", true)
		stayOrExit(arg)
	},
}

// dial connects to the test. The system closes the connection when this
// process dies, so the test sees the death of a process it has no number of.
func dial(message string) net.Conn {
	conn, err := net.Dial("tcp", os.Getenv(childAddr))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
	fmt.Fprintln(conn, message)
	return conn
}

func start(mode string, leave bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childMode+"="+mode)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if leave {
		leaveGroup(cmd)
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(97)
	}
}

// stayOrExit waits until the grandchild of "parent" has had time to be seen
// by the test, which then answers on the connection of this process.
func stayOrExit(arg string) {
	conn := dial("here")
	if arg == "exit" {
		_, _ = conn.Read(make([]byte, 1)) // the test has seen both
		fmt.Println("parent is done")
		os.Exit(0)
	}
	signal.Ignore(terminate)
	_, _ = io.Copy(io.Discard, conn)
}

// request makes a request for one of the programs.
func request(t testing.TB, mode, arg string, env ...string) worker.Request {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return worker.Request{
		Args: []string{self},
		// A child built with -race would sleep for a second before it exits.
		Env: append(env, childMode+"="+mode, childArg+"="+arg, "GORACE=atexit_sleep_ms=0"),
	}
}

// lives listens for processes that report that they live.
type lives struct {
	t testing.TB
	l *net.TCPListener
}

func listen(t testing.TB) *lives {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_ = l.SetDeadline(deadline(t))
	return &lives{t, l}
}

func (l *lives) env() string { return childAddr + "=" + l.l.Addr().String() }

// accept waits for the next process to report.
func (l *lives) accept() net.Conn {
	l.t.Helper()
	conn, err := l.l.Accept()
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(deadline(l.t))
	return conn
}

// timeout runs a request that n processes report from and that is stopped by
// its time limit, with ever longer limits until they came up in time.
func (l *lives) timeout(w worker.Worker, req worker.Request, n int) (conns []net.Conn, resp worker.Response, err error) {
	l.t.Helper()
	for req.Timeout = 100 * time.Millisecond; req.Timeout < time.Minute; req.Timeout *= 2 {
		resp, err = w.Do(within(l.t), req)
		if conns = l.pending(n); len(conns) == n {
			return conns, resp, err
		}
	}
	l.t.Fatalf("no %d processes came up", n)
	return nil, resp, err
}

// pending returns up to n connections that were made already.
func (l *lives) pending(n int) (conns []net.Conn) {
	_ = l.l.SetDeadline(time.Now().Add(100 * time.Millisecond))
	for range n {
		conn, err := l.l.Accept()
		if err != nil {
			break
		}
		l.t.Cleanup(func() { conn.Close() })
		_ = conn.SetDeadline(deadline(l.t))
		conns = append(conns, conn)
	}
	return conns
}

// dies waits for the process behind conn to die.
func dies(t testing.TB, conn net.Conn) {
	t.Helper()
	if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a process lives on: %v", err)
	}
}

// deadline is when a test that hangs gives up. No test asserts a time.
func deadline(testing.TB) time.Time { return time.Now().Add(time.Minute) }

// within is a context for a Do that must not hang.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithDeadlineCause(t.Context(), deadline(t), fmt.Errorf("the test hangs"))
	t.Cleanup(cancel)
	return ctx
}
