package cli_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

// TestForgeriesAreRead: a forgery that no reader accepts shows nothing of the gate. These two are refused for what they are.
func TestForgeriesAreRead(t *testing.T) {
	t.Parallel()
	refused := []string{"a cell twice", "an excuse"}
	commit := strings.Repeat("1", 40)
	for _, name := range forgeryNames {
		read := slices.ContainsFunc([]uint64{1, 2, 3, 4, 5, 6, 7, 8}, func(seed uint64) bool {
			run := fastRun(commit)
			forgeries[name](rand.New(rand.NewPCG(seed, 36)), run)
			if run["base"] == ofMain {
				run["base"] = commit
			}
			data, err := json.Marshal(run)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, err = bench.DecodeRun(data)
			return err == nil
		})
		if read == slices.Contains(refused, name) {
			t.Errorf("%s: it is read: %t", name, read)
		}
	}
}
