package cli_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/accelgate/accelgate/internal/cli"
	"github.com/accelgate/accelgate/internal/github/githubtest"
	"github.com/accelgate/accelgate/internal/safetensors"
	"github.com/accelgate/accelgate/internal/tensor"
)

var update = flag.Bool("update", false, "rewrite the expected output of the scripts")

// TestMain makes the test binary double as the commands that the scripts run.
// accelgate executes itself for the embedded engine, and so does the test
// binary under that name.
func TestMain(m *testing.M) {
	if os.Getenv("ACCELGATE_BENCH_CHILD") != "" && len(os.Args) == 1 {
		benchChild()
		return
	}
	testscript.Main(m, map[string]func(){
		"accelgate": func() {
			ctx, stop := interruptible()
			defer stop()
			c := cli.Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}
			if os.Getenv("HURRY") != "" { // no second between two writes
				var slept time.Duration
				c.Now = func() time.Time { return time.Now().Add(slept) }
				c.Sleep = func(ctx context.Context, d time.Duration) error { slept += d; return ctx.Err() }
			}
			os.Exit(c.Main(ctx, os.Args[1:]))
		},
		"fakegithub": func() {
			ctx, stop := interruptible()
			defer stop()
			os.Exit(githubtest.Command(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt)
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ACCELGATE_HOST_LABEL", "desk")
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("ACCELGATE_HEALTH", "off")                                                          // this machine runs other tests at the same time
			for name, days := range map[string]int{"LAST_WEEK": -7, "NEXT_WEEK": 7, "IN_TWO_YEARS": 731} { // for waivers
				env.Setenv(name, time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly))
			}
			env.Setenv("CONTAINERS_CONF", os.Getenv("CONTAINERS_CONF"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if tool, ok := strings.CutPrefix(name, "tool:"); ok {
				_, err := exec.LookPath(tool)
				return err == nil || required, nil
			}
			if name != "engine" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return podman(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": code, "await": await, "setenv": setenv, "expand": expand, "replace": replace, "tensors": tensors, "pack": pack,
		},
	})
}

// required says that no tool may be absent, as in CI: a script that needs one
// fails there rather than being skipped.
var required = os.Getenv("ACCELGATE_TEST_REQUIRE") == "1"

// podman reports whether containers can be run: whether podman runs the image
// that the Dockerfile builds in. In CI it must.
var podman = sync.OnceValue(func() bool {
	if required {
		return true
	}
	dockerfile, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		return false
	}
	base := buildStage.FindStringSubmatch(string(dockerfile))[1]
	_, noBusybox := exec.LookPath("busybox")
	_, err = engine("podman").command(context.Background(), "run", "--rm", "--network=host", "--pull=never", base, "true")
	return err == nil && noBusybox == nil
})

// code runs a program and demands its exit code: code 2 accelgate run --bad
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code is %d, want %d", got, want)
	}
}

// await waits until a file exists: await address
func await(ts *testscript.TestScript, _ bool, args []string) {
	for range 1000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s does not appear", args[0])
}

// setenv sets a variable to a file's content: setenv GITHUB_API_URL address
func setenv(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// expand replaces $NAME in a file: expand event.json
func expand(ts *testscript.TestScript, _ bool, args []string) {
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// replace replaces what a regular expression matches in a file:
// replace file 'old' 'new'
func replace(ts *testscript.TestScript, _ bool, args []string) {
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	old := ts.ReadFile(args[0])
	text := re.ReplaceAllLiteralString(old, args[2])
	if text == old {
		ts.Fatalf("%s holds no %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// pack writes a zip archive in base64: pack FILE name=file...
func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: pack FILE name=file...")
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, arg := range args[1:] {
		name, file, _ := strings.Cut(arg, "=")
		entry, err := w.Create(name)
		ts.Check(err)
		_, err = entry.Write([]byte(ts.ReadFile(file)))
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(base64.StdEncoding.EncodeToString(archive.Bytes())), 0o644))
}

// tensors writes a safetensors file: tensors FILE name=dtype:2x3:1,nan,inf
// Values begin again where there are more elements.
func tensors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: tensors FILE name=dtype:AxB:value,value...")
	}
	var all []safetensors.Named
	for _, arg := range args[1:] {
		name, rest, _ := strings.Cut(arg, "=")
		parts := strings.SplitN(rest, ":", 3)
		if len(parts) != 3 {
			ts.Fatalf("%s is not name=dtype:AxB:value,value...", arg)
		}
		x := tensor.Tensor{DType: tensor.DType(parts[0]), Shape: []int{}}
		for size := range strings.SplitSeq(parts[1], "x") {
			n, err := strconv.Atoi(size)
			ts.Check(err)
			x.Shape = append(x.Shape, n)
		}
		texts := strings.Split(parts[2], ",")
		x.Data = make([]byte, x.DType.Size(x.Elements()))
		for i := range x.Elements() {
			v, err := strconv.ParseFloat(texts[i%len(texts)], 64)
			ts.Check(err)
			if x.DType.IsFloat() {
				x.SetFloats64([]float64{v}, i)
			} else {
				x.SetInts([]int64{int64(v)}, i)
			}
		}
		all = append(all, safetensors.Named{Name: name, Tensor: x})
	}
	ts.Check(safetensors.Write(ts.MkAbs(args[0]), all))
}
