package harness_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/harness/gokernel"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// The test binary is its own worker: childMode names one of the cheats below,
// or plain.
const (
	childMode = "KERNEL_TEST_CHILD"
	childAddr = "KERNEL_TEST_ADDR"
)

func TestMain(m *testing.M) {
	switch mode := os.Getenv(childMode); mode {
	case "":
		os.Exit(m.Run())
	case "plain":
		_ = gokernel.Serve(context.Background(), os.Stdin, os.Stdout, time.Now)
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "hold":
		_, _ = io.Copy(io.Discard, dial())
	default:
		cheat, ok := cheats[mode]
		if !ok {
			fmt.Fprintf(os.Stderr, "no cheat is named %q\n", mode)
			os.Exit(99)
		}
		serve(cheat)
	}
}

// fields is a message.
type fields map[string]any

// cheat is what a displain worker does to a request before it is served and to
// the reply before it is written.
type cheat struct {
	before func(request fields)
	after  func(request, reply fields)
}

// serve puts a cheat between the caller and a plain worker.
func serve(c cheat) {
	in, toHonest := io.Pipe()
	fromHonest, out := io.Pipe()
	go func() { _ = gokernel.Serve(context.Background(), in, out, time.Now) }()
	requests, replies := bufio.NewReader(os.Stdin), bufio.NewReader(fromHonest)
	for {
		request := read(requests)
		if request == nil {
			return
		}
		if c.before != nil {
			c.before(request)
		}
		write(toHonest, request)
		reply := read(replies)
		for reply["event"] != nil {
			reply = read(replies)
		}
		if c.after != nil {
			c.after(request, reply)
		}
		write(os.Stdout, reply)
	}
}

func read(r *bufio.Reader) (f fields) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&f); err != nil {
		panic(err)
	}
	return f
}

func write(w io.Writer, f fields) {
	line, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(append(line, '\n'))
}

// on makes a cheat that acts before requests of one operation.
func on(op string, act func(request fields)) cheat {
	return cheat{before: func(request fields) {
		if request["op"] == op {
			act(request)
		}
	}}
}

// then makes a cheat that acts after requests of one operation that worked.
func then(op string, act func(request, reply fields)) cheat {
	return cheat{after: func(request, reply fields) {
		if request["op"] == op && reply["ok"] == true {
			act(request, reply)
		}
	}}
}

// resave changes the tensors of the file that a run has saved.
func resave(change func(t *tensor.Tensor)) func(request, reply fields) {
	return func(request, reply fields) {
		path := request["save"].(string)
		file, err := safetensors.Read(path, 1<<30)
		if err != nil {
			panic(err)
		}
		var named []safetensors.Named
		for i, name := range file.Names() {
			t, _ := file.Tensor(name)
			change(&t)
			named = append(named, safetensors.Named{Name: name, Tensor: t})
			said := reply["outputs"].([]any)[i].(map[string]any)
			said["dtype"], said["shape"] = t.DType, t.Shape
		}
		if err := safetensors.Write(path, named); err != nil {
			panic(err)
		}
	}
}

var firstArgs any

var cheats = map[string]cheat{
	"prints":        on("run", func(fields) { fmt.Println("debug: here I am") }),
	"prints json":   on("run", func(fields) { fmt.Println(`{"ok":true,"outputs":[]}`) }),
	"floods":        on("run", func(fields) { fmt.Println(strings.Repeat("x", 4<<20)) }),
	"other seq":     on("run", func(r fields) { write(os.Stdout, fields{"seq": json.Number("1"), "ok": true}) }),
	"odd event":     on("run", func(fields) { write(os.Stdout, fields{"event": "passed"}) }),
	"closes":        on("run", func(fields) { os.Stdout.Close(); select {} }),
	"exits":         on("run", func(fields) { os.Exit(0) }),
	"mute":          on("run", func(fields) { select {} }),
	"loud sleeper":  on("run", sleepAloud),
	"survivor":      on("run", survivor),
	"skips":         on("run", func(r fields) { r["id"] = "" }),
	"skips timed":   on("time", func(r fields) { r["id"] = "" }),
	"other file":    on("run", func(r fields) { r["save"] = r["save"].(string) + ".txt" }),
	"other proto":   then("hello", func(_, r fields) { r["proto"] = "fib-worker/2" }),
	"few times":     then("time", func(_, r fields) { r["ns"] = r["ns"].([]any)[1:] }),
	"past times":    then("time", func(_, r fields) { r["ns"].([]any)[0] = json.Number("-1") }),
	"fast timer":    then("time", fastTimer),
	"cached":        {before: cached},
	"nan":           then("run", resave(fillNaN)),
	"dtype":         then("run", resave(func(t *tensor.Tensor) { t.DType = tensor.BF16 })),
	"shape":         then("run", resave(func(t *tensor.Tensor) { t.Shape = []int{t.Elements()} })),
	"lies dtype":    then("run", func(_, r fields) { r["outputs"].([]any)[0].(map[string]any)["dtype"] = "int16" }),
	"lies name":     then("run", func(_, r fields) { r["outputs"].([]any)[0].(map[string]any)["name"] = "C" }),
	"symlink":       then("run", symlink),
	"other inputs":  then("tensor", otherInputs),
	"setup other":   then("build", offers("A", "D")),
	"setup twice":   then("build", offers("A", "B", "A")),
	"setup lies":    then("build", offers("A")),
	"setup":         {before: on("setup", func(r fields) { r["id"] = "" }).before, after: then("build", offers("B", "A")).after},
	"setup mute":    {before: on("setup", func(fields) { select {} }).before, after: then("build", offers()).after},
	"corrupts":      {before: failRun, after: corrupted},
	"visible":       {before: look()},
	"shared device": onShared(),
	"device":        onDevice([]any{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
	"device lies":   onDevice([]any{-1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
	"no times":      {before: failObserve, after: onDevice(nil).after},
	"no device":     then("hello", func(_, r fields) { r["devices"].([]any)[0].(map[string]any)["kind"] = "cuda" }),
	"talks":         on("run", func(fields) { write(os.Stdout, fields{"event": "log", "text": "warming up"}) }),
}

// offers makes a worker say that its function has a setup, which takes inputs.
func offers(names ...string) func(request, reply fields) {
	return func(_, reply fields) { reply["setup"] = append([]string{}, names...) }
}

// failObserve has a plain worker fail as one does whose function cannot be captured.
func failObserve(request fields) {
	if request["op"] == "observe" {
		request["op"], request["id"] = "run", "nothing"
	}
}

// onDevice makes a worker say that it has a GPU, and what that one needed for calls.
func onDevice(ns []any) cheat {
	return cheat{after: func(request, reply fields) {
		switch request["op"] {
		case "hello":
			reply["devices"].([]any)[0].(map[string]any)["kind"] = "cuda"
		case "observe":
			if ns == nil {
				return
			}
			delete(reply, "error")
			reply["ok"], reply["method"], reply["ns"] = true, "delay", ns
			reply["clock"] = map[string]any{"sm_mhz": 1980, "throttle": true}
		}
	}}
}

// contextSwitch is how long a shared device takes to change between two processes.
const contextSwitch = 20 * time.Millisecond

// onShared makes a worker say that it has a GPU, which the first calls after those of another worker wait for. The
// file that childAddr names holds the last one's number.
func onShared() cheat {
	c := onDevice(nil)
	c.before = func(request fields) {
		path, own := os.Getenv(childAddr), strconv.Itoa(os.Getpid())
		if last, _ := os.ReadFile(path); request["op"] == "time" && string(last) != own {
			time.Sleep(contextSwitch)
			_ = os.WriteFile(path, []byte(own), 0o600)
		}
	}
	return c
}

func sleepAloud(fields) {
	for {
		write(os.Stdout, fields{"event": "alive"})
		time.Sleep(10 * time.Millisecond)
	}
}

// survivor leaves a process behind that holds the pipes.
func survivor(fields) {
	self, _ := os.Executable()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childMode+"=hold")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	conn := dial() // the test answers when it has seen both
	_, _ = conn.Read(make([]byte, 1))
	os.Exit(0)
}

func dial() net.Conn {
	conn, err := net.Dial("tcp", os.Getenv(childAddr))
	if err != nil {
		panic(err)
	}
	return conn
}

func fastTimer(_, r fields) {
	for i := range r["ns"].([]any) {
		r["ns"].([]any)[i] = json.Number("100")
	}
}

// cached uses the first arguments that it ever saw for everything.
func cached(r fields) {
	switch r["op"] {
	case "run":
		if firstArgs == nil {
			firstArgs = r["args"]
		}
		r["args"] = firstArgs
	case "time":
		for _, slot := range r["slots"].([]any) {
			slot.(map[string]any)["args"] = firstArgs
		}
	}
}

func fillNaN(t *tensor.Tensor) {
	data := bytes.Clone(t.Data)
	for i := 1; i < len(data); i += 2 {
		data[i-1], data[i] = 0x01, 0x7e // a NaN of float16
	}
	t.Data = data
}

func symlink(request, _ fields) {
	path := request["save"].(string)
	if err := os.Rename(path, path+".real"); err != nil {
		panic(err)
	}
	if err := os.Symlink(path+".real", path); err != nil {
		panic(err)
	}
}

func otherInputs(_, reply fields) {
	if reply["digest"] != nil {
		reply["digest"] = strings.Repeat("0", 64)
	}
}

func failRun(r fields) {
	if r["op"] == "run" {
		r["args"] = []string{"nothing"}
	}
}

func corrupted(request, reply fields) {
	if request["op"] == "check" {
		reply["health"] = "corrupted"
	}
}
