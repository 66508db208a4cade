// Command cell is what the tests of the container worker run in containers,
// and as a process that owns some. Its first argument names what it does.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

func main() {
	programs := map[string]func(args []string){
		"exit": exit, "flood": flood, "show": show, "write": write, "eat": eat, "stay": stay, "late": late,
		"hold": hold, "tree": tree, "daemon": daemon, "do": do, "adopt": adopt,
	}
	program, ok := programs[os.Args[1]]
	if !ok {
		fmt.Fprintf(os.Stderr, "no program %q\n", os.Args[1])
		os.Exit(99)
	}
	program(os.Args[2:])
}

func exit(args []string) {
	fmt.Println("to stdout")
	fmt.Fprintln(os.Stderr, "to stderr")
	code, _ := strconv.Atoi(args[0])
	os.Exit(code)
}

// flood prints so many MiB to both streams.
func flood(args []string) {
	mib, _ := strconv.Atoi(args[0])
	chunk := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
	for range mib {
		os.Stdout.Write(chunk)
		os.Stderr.Write(chunk)
	}
	fmt.Fprint(os.Stderr, "the end")
}

// show prints what a container sees: its folder, user, environment, networks,
// and the privileges of its process.
func show(files []string) {
	dir, _ := os.Getwd()
	devices, _ := os.ReadDir("/sys/class/net")
	var networks []string
	for _, d := range devices {
		networks = append(networks, d.Name())
	}
	status, _ := os.ReadFile("/proc/self/status")
	seen := map[string]string{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		seen[name] = string(data)
		if err != nil {
			seen[name] = "absent"
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"dir": dir, "uid": os.Getuid(), "env": os.Environ(), "networks": networks, "files": seen,
		"cpus":            runtime.NumCPU(),
		"nodes":           after(string(status), "Mems_allowed_list:\t"),
		"noNewPrivileges": strings.Contains(string(status), "NoNewPrivs:\t1"),
	})
}

// after is the rest of the line behind a text.
func after(text, key string) string {
	_, rest, _ := strings.Cut(text, key)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// write writes files and tells of each whether that worked.
func write(names []string) {
	for _, name := range names {
		fmt.Println(name, os.WriteFile(name, []byte("written"), 0o644) == nil)
	}
}

// eat takes memory until something happens.
func eat([]string) {
	var all [][]byte
	for {
		all = append(all, bytes.Repeat([]byte{1}, 1<<20))
		fmt.Fprintln(os.Stderr, len(all), "MiB")
	}
}

// stay waits to be told to end, and then does with an exit code.
func stay(args []string) {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	fmt.Println("here")
	<-terminated
	code, _ := strconv.Atoi(args[0])
	os.Exit(code)
}

// late closes its output before it ends.
func late([]string) {
	fmt.Println("here")
	os.Stdout.Close()
	os.Stderr.Close()
	time.Sleep(500 * time.Millisecond)
	os.Exit(5)
}

// hold cannot be asked to end. Its argument only marks it.
func hold([]string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	fmt.Println("here")
	for {
		time.Sleep(time.Hour)
	}
}

// tree is four processes that cannot be asked to end: this one, a child that
// shares its output, and two that left its session.
func tree(marker []string) {
	start(false, "hold", marker[0])
	start(true, "daemon", marker[0])
	hold(nil)
}

func daemon(marker []string) {
	start(true, "hold", marker[0])
	hold(nil)
}

func start(leave bool, args ...string) {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: leave}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(97)
	}
}

// adopt runs a command and is the parent of what that leaves behind, so that
// the test is not: the worker kills orphans of its own process.
func adopt(args []string) {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, 36 /* PR_SET_CHILD_SUBREAPER */, 1, 0); errno != 0 {
		fmt.Fprintln(os.Stderr, errno)
		os.Exit(98)
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(97)
	}
	go func() {
		<-terminated
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}()
	for {
		if pid, err := syscall.Wait4(-1, nil, 0, nil); pid == cmd.Process.Pid || err != nil && err != syscall.EINTR {
			os.Exit(0)
		}
	}
}

// order is what "do" reads from its standard input.
type order struct {
	Image, Socket, Dir string
	Mounts, Args       []string
	SamePaths          bool
}

// do runs a container next to this process and prints the response.
func do([]string) {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(96)
	}
	w := &worker.Container{Image: o.Image, Socket: o.Socket, Mounts: o.Mounts, SamePaths: o.SamePaths}
	resp, err := w.Do(context.Background(), worker.Request{Args: o.Args, Dir: o.Dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(95)
	}
	fmt.Print(string(resp.Stdout))
	fmt.Fprint(os.Stderr, string(resp.Stderr), resp.Reason())
	_ = w.Close()
}
