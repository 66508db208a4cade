package energy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeDir names the folder in which a fake nvidia-smi finds how to behave.
const fakeDir = "ENERGY_TEST_FAKE"

// fake is an nvidia-smi: the test binary under that name. Like the real one it
// refuses unknown fields.
type fake struct {
	Fields  []string           // of power that it has
	Probe   string             // what it answers when asked once, after its exit code 0
	Watts   map[string]float64 // by UUID
	Zone    time.Duration      // of its stamps, if TZ is not heeded
	LostAt  int                // sample from which the GPU Lost is lost; 0 means never
	Lost    string
	EndAt   int // sample at which it ends with code 15; 0 means never
	Started string
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(fakeDir); dir != "" && strings.HasPrefix(filepath.Base(os.Args[0]), "nvidia-smi") {
		os.Exit(playSMI(dir))
	}
	os.Exit(m.Run())
}

func playSMI(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "fake.json"))
	var f fake
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		fmt.Println(err)
		return 66
	}
	args := map[string]string{}
	for _, a := range os.Args[1:] {
		name, v, _ := strings.Cut(a, "=")
		args[name] = v
	}
	fields := strings.Split(args["--query-gpu"], ",")
	field := fields[len(fields)-1]
	known := false
	for _, k := range f.Fields {
		known = known || k == field
	}
	if !known {
		fmt.Printf("Field \"%s\" is not a valid field to query.\n", field)
		return 2
	}
	if args["--format"] != "csv,noheader,nounits" {
		return 64
	}
	if fields[0] == "index" && len(fields) == 3 {
		fmt.Print(f.Probe)
		return 0
	}
	if fields[0] != "timestamp" || fields[1] != "uuid" || args["--loop-ms"] != "100" {
		return 65
	}
	return f.loop(strings.Split(args["--id"], ","))
}

// printed is how many samples are printed before it ends, a tenth of a second of
// the test's clock apart. The first comes soon after that clock's beginning.
const (
	printed = 15
	delay   = 60 * time.Millisecond
)

// loop prints samples at once, and another one at the request to end.
func (f fake) loop(uuids []string) int {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	n := 0
	for ; n < printed && (f.EndAt == 0 || n < f.EndAt); n++ {
		f.print(uuids, n)
	}
	if err := os.WriteFile(f.Started, nil, 0o600); err != nil {
		return 67
	}
	if f.EndAt > 0 {
		fmt.Println("GPU has fallen off the bus")
		return 15
	}
	<-ended
	f.print(uuids, n)
	fmt.Print("2026/01/0")
	return 0
}

func (f fake) print(uuids []string, n int) {
	stamp := noon.Add(delay + time.Duration(n)*period + f.Zone).Format(stampLayout)
	for _, uuid := range uuids {
		watts := fmt.Sprintf("%.2f", f.Watts[uuid])
		if uuid == f.Lost && f.LostAt > 0 && n >= f.LostAt {
			watts = "[GPU is lost]"
		}
		fmt.Printf("%s, %s, %s\n", stamp, uuid, watts)
	}
}

// install returns an environment in which f is the only program, and sets
// f.Started to the file by which it says that it has printed a sample.
func install(t *testing.T, f *fake) []string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "nvidia-smi")); err != nil {
		t.Skipf("nvidia-smi was NOT played, because a link is a privilege here: %v", err)
	}
	f.Started = filepath.Join(dir, "started")
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fake.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + dir, fakeDir + "=" + dir, "GORACE=atexit_sleep_ms=0"}
}
