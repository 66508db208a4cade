package analysis_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/analysis"
	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func open(t *testing.T, body string, environ ...string) (suite.Suite, error) {
	t.Helper()
	file, err := config.Parse("f.yaml", []byte("version: 1\nsuites:\n  - name: a\n    kind: analysis\n"+indent(body)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := analysis.Open(&file.Suites[0], suite.Env{Dir: t.TempDir(), Environ: environ, Now: time.Now})
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

func indent(body string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n    ") + "\n"
}

func must(t *testing.T, body string, environ ...string) suite.Suite {
	t.Helper()
	s, err := open(t, body, environ...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"level: off":                                                     "analyses nothing: add packing: {} or fidelity: {}",
		"times: slow\npacking: {}":                                       "write inform, or gate",
		"level: loud\npacking: {}":                                       "write off, which informs, or fail, which gates",
		"packing: {oversize: drop}":                                      "write legacy, own-row, reject or error",
		"packing: {algorithms: [fastest]}":                               "unknown algorithm",
		"packing: {scenarios: [nothing]}":                                "match no scenario",
		"packing: {lengths: [{file: x.json}]}":                           "needs file, max_tokens and ranks",
		"packing: {lengths: [{file: x.json, max_tokens: 1, ranks: 1}]}":  "name a file of lengths",
		"packing: {lengths: [{file: x.txt, max_tokens: 1, ranks: 1}]}":   ".json, .jsonl or .csv",
		"fidelity: {rank_ratio: 2}":                                      "rank ratio 2",
		"fidelity: {variants: [{compute: bfloat16, storage: bfloat16}]}": "use float64 or float32",
		"fidelity: {variants: [{compute: float64, storage: int8}]}":      "storing factors",
		"repeats: 0\npacking: {}":                                        "use 1 to 1000",
		"packing: {rounds: -1}":                                          "use 1 to",
	} {
		if _, err := open(t, body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", body, err, want)
		}
	}
}

// TestLevel has the same numbers informational or gated.
func TestLevel(t *testing.T) {
	t.Parallel()
	for level, gated := range map[string][2]bool{"level: off": {false, false}, "level: fail": {true, false}, "times: gate": {false, true}, "level: fail\ntimes: gate": {true, true}} {
		s := must(t, level+"\npacking: {scenarios: [compare/1_small]}\nfidelity: {}")
		for _, m := range s.Plan().Metrics {
			gates := gated[0]
			if m.Name == "pack_ms" || m.Name == "decompose_ms" {
				gates = gated[1]
			}
			if m.Informational == gates || m.Exact && !gates {
				t.Errorf("%s: metric %+v", level, m)
			}
		}
	}
}

func TestEveryMetricIsMeasured(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	s := must(t, "packing: {scenarios: [compare/1_small], algorithms: [lpt]}\nfidelity: {variants: [{compute: float64, storage: float64}]}")
	measured := map[string]bool{}
	for _, c := range s.Plan().Cells {
		r, err := s.Measure(t.Context(), c, bench.Device{})
		if err != nil || r.Outcome != bench.Passed || r.Cell.ID() != c.ID() {
			t.Fatalf("%s: %+v, %v", c.ID(), r, err)
		}
		if tolerance, ok := r.Context["tolerance"]; ok != strings.HasPrefix(c.ID(), "fidelity/") || ok && tolerance != "1e-05" {
			t.Errorf("%s: the tolerance is recorded as %q, want 1e-05", c.ID(), tolerance)
		}
		for _, sample := range r.Samples {
			measured[sample.Metric] = true
			if len(sample.Values) != 1 || !bench.Finite(sample.Values[0]) {
				t.Errorf("%s: %+v", c.ID(), sample)
			}
		}
	}
	for _, m := range s.Plan().Metrics {
		if !measured[m.Name] {
			t.Errorf("%s is described and was not measured", m.Name)
		}
	}
}

func TestDigestIsOfWhatIsComputed(t *testing.T) {
	t.Parallel()
	digest := func(body string) string {
		s := must(t, body)
		d, err := s.Digest(s.Plan().Cells[0])
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	base := digest("packing: {scenarios: [compare/1_small], algorithms: [lpt]}")
	if again := digest("packing: {scenarios: [compare/1_small], algorithms: [lpt]}"); again != base {
		t.Error("the same has two digests")
	}
	for _, body := range []string{
		"packing: {scenarios: [compare/2_realistic_500], algorithms: [lpt]}", "packing: {scenarios: [compare/1_small], algorithms: [greedy]}",
		"packing: {scenarios: [compare/1_small], algorithms: [lpt], cost: {b: 1}}", "packing: {scenarios: [compare/1_small], algorithms: [lpt], oversize: error}",
	} {
		if digest(body) == base {
			t.Errorf("%s has the digest of something else", body)
		}
	}
}

// TestNothingComparedFails at both levels.
func TestNothingComparedFails(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"off", "fail"} {
		s := must(t, "level: "+level+"\nfidelity: {patterns: [nothing], variants: [{compute: float64, storage: float64}]}")
		r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
		if err != nil || r.Outcome != bench.Failed || !strings.Contains(r.Reason, "no parameter was compared") {
			t.Errorf("level %s: %+v, %v", level, r, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	s := must(t, "fidelity: {}")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := s.Measure(ctx, s.Plan().Cells[0], bench.Device{}); err == nil {
		t.Errorf("%+v, want the context's error", r)
	}
}

// TestModelFromTheHub serves a generated checkpoint as the hub does.
func TestModelFromTheHub(t *testing.T) {
	if testtier.Race {
		t.Skip("other cells have the same goroutines")
	}
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	path, err := lowrank.Generate(t.TempDir(), 7)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	mux := http.NewServeMux()
	info := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hf_secret" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "octo/tiny-llama", "sha": commit, "siblings": []any{
			map[string]any{"rfilename": "model.safetensors", "size": len(data), "lfs": map[string]any{"sha256": hex.EncodeToString(sum[:]), "size": len(data), "pointerSize": 100}},
			map[string]any{"rfilename": "README.md", "size": 3, "blobId": "0000000000000000000000000000000000000000"},
		}})
	}
	mux.HandleFunc("GET /api/models/octo/tiny-llama/revision/{rev}", info)
	mux.HandleFunc("GET /octo/tiny-llama/resolve/"+commit+"/model.safetensors", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
		w.Header().Set("X-Repo-Commit", commit)
		http.ServeContent(w, r, "model.safetensors", time.Time{}, strings.NewReader(string(data)))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	cache := filepath.Join(t.TempDir(), "cache")
	s := must(t, "fidelity: {model: octo/tiny-llama, cache: "+cache+", variants: [{compute: float64, storage: float64}]}",
		"HF_ENDPOINT="+server.URL, "HF_TOKEN=hf_secret")
	c := s.Plan().Cells[0]
	if c.ID() != "fidelity/octo/tiny-llama/float64-float64" {
		t.Errorf("cell %s", c.ID())
	}
	r, err := s.Measure(t.Context(), c, bench.Device{})
	if err != nil || r.Outcome != bench.Passed || r.Context["checkpoint"] != "octo/tiny-llama@"+commit {
		t.Fatalf("%+v, %v", r, err)
	}
	if secrets := s.Plan().Secrets; len(secrets) != 1 || secrets[0] != "hf_secret" {
		t.Error("the token is not known as a secret")
	}
	server.Close()
	offline := must(t, "fidelity: {model: octo/tiny-llama, revision: "+commit+", cache: "+cache+", variants: [{compute: float64, storage: float64}]}",
		"HF_ENDPOINT="+server.URL, "HF_HUB_OFFLINE=1")
	if r, err := offline.Measure(t.Context(), c, bench.Device{}); err != nil || r.Outcome != bench.Passed {
		t.Errorf("from the cache: %+v, %v", r, err)
	}
}
