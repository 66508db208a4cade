package dataset_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
)

// BenchmarkPrompt writes a prompt of 8192 words as it is sent, and copies the
// same bytes for comparison.
func BenchmarkPrompt(b *testing.B) {
	d := load(b, dataset.Spec{Kind: dataset.Random, N: 16, Input: fixed(8192)}, nil)
	s := sequence(b, d, dataset.Unique, 1)
	b.Run("generate", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			b.SetBytes(int64(len(s.Prompt(i, false).Text)))
		}
	})
	text := s.Prompt(0, false).Text
	b.Run("copy", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for range b.N {
			io.Discard.Write([]byte(strings.Clone(text)))
		}
	})
}

// BenchmarkLoadTrace loads 2000 requests of 12,000 tokens each, as a
// conversation trace has.
func BenchmarkLoadTrace(b *testing.B) {
	var file strings.Builder
	for i := range 2000 {
		ids := strings.Trim(strings.ReplaceAll(fmt.Sprint(make([]int, 20)), " ", ","), "[]")
		fmt.Fprintf(&file, `{"timestamp":%d,"input_length":12000,"output_length":300,"hash_ids":[%s]}`+"\n", i*10, ids)
	}
	b.ReportAllocs()
	for b.Loop() {
		load(b, trace, text(file.String()))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/24e6, "ns/word")
}
