package busy_test

import (
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/accelgate/accelgate/e2e/script"
)

// neighbourOf is the environment variable that makes this program a neighbour of that kind.
const neighbourOf = "ACCELGATE_TEST_NEIGHBOUR"

// neighbours are programs beside which cells are measured.
var neighbours = map[string]func(){
	"spin": func() {
		for n := 0; ; n++ {
			runtime.KeepAlive(n)
		}
	},
	"bursts": func() {
		between := func() time.Duration { return time.Duration((0.3 + 2.7*rand.Float64()) * float64(time.Second)) }
		for {
			for until := time.Now().Add(between()); time.Now().Before(until); {
			}
			time.Sleep(between())
		}
	},
	"memory": func() {
		const size = 128 << 20 // more than caches hold
		from, to := make([]byte, size), make([]byte, size)
		for {
			copy(to, from)
		}
	},
}

func TestMain(m *testing.M) {
	if run, ok := neighbours[os.Getenv(neighbourOf)]; ok {
		go run()
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the test, however that ends
		return
	}
	script.Main(m)
}

// beside starts so many neighbours of a kind, which end with the test.
func beside(t *testing.T, kind string, n int) {
	t.Helper()
	for range n {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), neighbourOf+"="+kind)
		lives, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = lives.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}
