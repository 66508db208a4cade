package device_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/worker"
)

// fakeDir names the folder in which a fake tool finds what it prints.
const fakeDir = "HOST_TEST_FAKES"

// fake is a vendor's tool: the test binary under another name. Like the real
// one, it answers only to the expected arguments.
type fake struct {
	Stdout, Stderr string
	Exit           int
}

// knownArgs holds the arguments of each question; its first word is the tool.
var knownArgs = map[string][]string{
	"nvidia-smi":           {"--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"},
	"nvidia-smi uuids":     {"--query-gpu=index,uuid", "--format=csv,noheader,nounits"},
	"nvidia-smi buses":     {"--query-gpu=index,uuid,pci.bus_id", "--format=csv,noheader,nounits"},
	"nvidia-smi list":      {"-L"},
	"nvidia-smi processes": {"--query-compute-apps=pid,used_memory,gpu_uuid", "--format=csv,noheader,nounits"},
	"amd-smi":              {"static", "--asic", "--vram", "--driver", "--json"},
	"rocm-smi":             {"--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--showuniqueid", "--json"},
	"amd-smi buses":        {"list", "--json"},
	"rocm-smi buses":       {"--showbus", "--json"},
	"npu-smi":              {"info", "-m"},
	"npu-smi info":         {"info"},
}

func TestMain(m *testing.M) {
	if role := os.Getenv(leaseRole); role != "" {
		os.Exit(playJob(role))
	}
	name, isFake := question()
	if !isFake {
		os.Exit(m.Run())
	}
	if name == "" {
		fmt.Printf("unknown arguments %q\n", os.Args[1:])
		os.Exit(64)
	}
	text, err := os.ReadFile(filepath.Join(os.Getenv(fakeDir), name+".json"))
	if err != nil {
		fmt.Println(err)
		os.Exit(65)
	}
	var f fake
	if err := json.Unmarshal(text, &f); err != nil {
		fmt.Println(err)
		os.Exit(66)
	}
	fmt.Print(f.Stdout)
	fmt.Fprint(os.Stderr, f.Stderr)
	os.Exit(f.Exit)
}

// question returns what this process, as a tool, is asked.
func question() (name string, isFake bool) {
	for name, args := range knownArgs {
		if toolOf(name) == filepath.Base(os.Args[0]) {
			isFake = true
			if slices.Equal(args, os.Args[1:]) {
				return name, true
			}
		}
	}
	return "", isFake
}

func toolOf(question string) string {
	tool, _, _ := strings.Cut(question, " ")
	return tool
}

// install returns a worker whose children find these tools and no others.
func install(t testing.TB, tools map[string]fake) worker.Worker {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range tools {
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, filepath.Join(dir, toolOf(name))); err != nil && !os.IsExist(err) {
			t.Skip(err) // on Windows a privilege
		}
	}
	return &worker.Isolated{Environ: []string{"PATH=" + dir, fakeDir + "=" + dir, "GORACE=atexit_sleep_ms=0"}}
}

// lines joins lines of output.
func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }
