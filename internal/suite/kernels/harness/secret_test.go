package harness_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// visible is the environment variable that names the file in which the cheat
// "visible" keeps what it saw.
const visible = "KERNEL_TEST_VISIBLE"

// seen is what a worker could see before it got the seed of a random input.
type seen struct {
	Texts map[string]bool // all texts: arguments, environment, keys and values of requests
	Seeds []uint64        // of random inputs
}

// look notes what requests show, and seeds apart from the rest.
func look() func(fields) {
	s := seen{Texts: map[string]bool{"": true}}
	for _, text := range slices.Concat(os.Args, os.Environ()) {
		s.Texts[text] = true
	}
	return func(request fields) {
		if random, ok := request["random"].(map[string]any); ok {
			seed, _ := strconv.ParseUint(random["seed"].(json.Number).String(), 10, 64)
			s.Seeds = append(s.Seeds, seed)
			delete(request, "random")
			defer func() { request["random"] = random }()
		}
		s.add(map[string]any(request))
		text, _ := json.Marshal(s)
		_ = os.WriteFile(os.Getenv(visible), text, 0o600)
	}
}

func (s seen) add(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, value := range v {
			s.Texts[key] = true
			s.add(value)
		}
	case []any:
		for _, value := range v {
			s.add(value)
		}
	case string:
		s.Texts[v] = true
	case json.Number:
		s.Texts[v.String()] = true
	}
}

// TestInputsCannotBeRegenerated has a worker keep all that it sees, and tries to
// find the seeds of its inputs from that: by the formula with each text as the
// secret, and without any secret. Whoever has the secret finds them all.
func TestInputsCannotBeRegenerated(t *testing.T) {
	if testtier.Race {
		t.Skip("TestMeasureServesManyCases has the same goroutines")
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "seen.json")
	ref, sol := mustOpen(t, "plain", harness.Limits{}), mustOpen(t, "visible", harness.Limits{}, visible+"="+path)
	c := small
	c.Secret = harness.NewSecret()
	s := quick(t)
	s.Trials = 1
	m, err := harness.Measure(within(t), c, program(ref, "gemm"), program(sol, "gemm"), s)
	if err != nil || m.Failed != nil {
		t.Fatalf("status %s, reason %q, error %v", m.Status, m.Reason, err)
	}
	var own seen
	if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &own) != nil || len(own.Seeds) < 6 || len(own.Texts) < 20 {
		t.Fatalf("the worker saw %d seeds and %d texts, %v", len(own.Seeds), len(own.Texts), err)
	}
	if found := found(own.Seeds, c.Secret.Seed); found == 0 {
		t.Error("the secret does not lead to the inputs, so that nothing can be replayed")
	}
	formulas := map[string]func(string, string, string, int, int) uint64{"public names": publicSeed}
	for text := range own.Texts {
		formulas["secret "+text] = harness.Secret(sha256.Sum256([]byte(text))).Seed
		var padded harness.Secret
		copy(padded[:], text)
		formulas["padded "+text] = padded.Seed
	}
	for _, name := range slices.Sorted(maps.Keys(formulas)) {
		if n := found(own.Seeds, formulas[name]); n > 0 {
			t.Errorf("%d of %d seeds follow from %s", n, len(own.Seeds), name)
		}
	}
}

// found counts the seeds that a formula leads to.
func found(seeds []uint64, formula func(definition, workload, input string, trial, set int) uint64) (n int) {
	wanted := map[uint64]bool{}
	for _, seed := range seeds {
		wanted[seed] = true
	}
	for _, input := range small.Inputs {
		for trial := range 16 {
			for set := range 3 {
				if wanted[formula(small.Definition, small.Workload, input.Name, trial, set)] {
					n++
				}
			}
		}
	}
	return n
}

// publicSeed needs nothing but public names.
func publicSeed(definition, workload, input string, trial, set int) uint64 {
	text, _ := json.Marshal([]any{definition, workload, input, trial, set})
	sum := sha256.Sum256(text)
	return binary.LittleEndian.Uint64(sum[:])
}
