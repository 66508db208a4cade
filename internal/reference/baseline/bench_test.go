package baseline_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

// large makes a file of n entries as a suite of language models leaves them.
func large(n int) []byte {
	f := &baseline.File{HostLabel: "linux-cuda", CapturedAt: time.Unix(1.7e9, 0), Schema: 1, Fingerprint: &bench.Fingerprint{OS: "linux"}}
	for i := range n {
		v := 10 + math.Round(float64(i)*0.37)/10
		f.Entries = append(f.Entries, baseline.Entry{
			CaseID: fmt.Sprintf("gemma-4-e4b-it-q8_0__ggml_cuda__short_text__SWEEP=%06d", i), OK: true, CorrectnessOK: new(true),
			PrefillTPS: new(20 * v), DecodeTPS: &v, ModelLoadMS: new(1850.0),
			Metrics: []baseline.Metric{
				metric("decode_tps", "tok/s", bench.Higher, v, 0.4, 5),
				metric("model_load_ms", "ms", bench.Lower, 1850, 12, 5),
				metric("prefill_tps", "tok/s", bench.Higher, 20*v, 9.25, 5),
			},
			Anchor: &baseline.Anchor{CapturedAt: time.Unix(1.6e9, 0), Commit: "0123abc", Metrics: anchored(map[string]float64{"decode_tps": v, "model_load_ms": 1850, "prefill_tps": 20 * v})},
		})
	}
	data, err := baseline.Marshal(f)
	if err != nil {
		panic(err)
	}
	return data
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data := large(n)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := baseline.Parse("b.json", data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMarshal(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f, err := baseline.Parse("b.json", large(n))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := baseline.Marshal(f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
