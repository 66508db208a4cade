// Package script runs testscript files against the accelgate binary. Folders beside it hold the scripts, by theme.
package script

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

var update = flag.Bool("update", false, "rewrite the expected output of the scripts")

// tiers stands in a script that not only make test runs, or only another tier: "# tiers: test race".
var tiers = regexp.MustCompile(`(?m)^# tiers: (.+)$`)

// Run runs the scripts of the test's folder, in parallel. Each states its tiers in a line "# tiers: test race"; without
// one it belongs to make test alone.
func Run(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files:               files(t, cmp.Or(os.Getenv("ACCELGATE_TEST_TIER"), "test")),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup:               setup,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": code, "await": await, "setenv": setenv, "expand": expand, "replace": replace, "tensors": tensors, "pack": pack, "valid": valid, "http": request,
		},
	})
}

func files(t *testing.T, tier string) []string {
	t.Helper()
	all, err := filepath.Glob("*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var chosen []string
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stated := []string{"test"}
		if m := tiers.FindSubmatch(text); m != nil {
			stated = strings.Fields(string(m[1]))
		}
		if slices.Contains(stated, tier) {
			chosen = append(chosen, file)
		}
	}
	if len(chosen) == 0 {
		t.Skip("no script here belongs to make " + tier)
	}
	return chosen
}

func setup(env *testscript.Env) error {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		return err
	}
	env.Setenv("EXAMPLES", examples)
	env.Setenv("ACCELGATE_HOST_LABEL", "desk")
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
	env.Setenv("ACCELGATE_HEALTH", "off")                                                          // other tests run on this host at the same time
	for name, days := range map[string]int{"LAST_WEEK": -7, "NEXT_WEEK": 7, "IN_TWO_YEARS": 731} { // for waivers
		env.Setenv(name, time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly))
	}
	env.Setenv("CONTAINERS_CONF", os.Getenv("CONTAINERS_CONF"))
	cache, err := os.UserCacheDir() // without the objects of Go's own packages, go compiles for minutes on a loaded host
	env.Setenv("GOCACHE", cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")))
	return err
}

func condition(name string) (bool, error) {
	if tool, ok := strings.CutPrefix(name, "tool:"); ok {
		_, err := exec.LookPath(tool)
		return err == nil || required, nil
	}
	if name == "tmpfs" {
		return mounts(), nil
	}
	if name != "engine" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return podman(), nil
}

// mounts reports whether a process may mount file systems of its own, which some hosts allow to root only.
var mounts = sync.OnceValue(func() bool {
	return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt").Run() == nil
})

// required says that no tool may be absent, as in CI: a script that needs one
// fails there rather than being skipped.
var required = os.Getenv("ACCELGATE_TEST_REQUIRE") == "1"

var buildStage = regexp.MustCompile(`(?m)^FROM (\S+) AS build$`)

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
	return noBusybox == nil && exec.Command("podman", "run", "--rm", "--network=host", "--pull=never", base, "true").Run() == nil
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
	const limit = 2 * time.Minute // a run may start several processes first
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s does not appear within %v", args[0], limit)
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

// valid checks a document by a committed schema: valid run .accelgate/run.json
func valid(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: valid run|baseline FILE")
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(filepath.Join("..", "..", "schema", args[0]+".json"))
	ts.Check(err)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Check(schema.Validate(document))
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
