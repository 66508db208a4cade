package dataset_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
)

// checkLoad demands that a file is either refused in one plain line, or
// becomes prompts that say something and are the same once more.
func checkLoad(t *testing.T, spec dataset.Spec, file string) {
	d, err := dataset.Load(spec, text(file))
	if err != nil {
		if s := err.Error(); !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || len(s) > 500 || !strings.Contains(s, ": ") {
			t.Errorf("message %q", s)
		}
		return
	}
	s, err := d.Sequence(dataset.Unique, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Len() {
		p := s.Prompt(i, false)
		for _, m := range p.Chat() {
			if !utf8.ValidString(m.Content) || m.Role == "" {
				t.Errorf("prompt %d: %q", i, m)
			}
		}
		if p.InputLength <= dataset.NonceWords || p.OutputTokens < 0 || p.At < 0 {
			t.Errorf("prompt %d: %+v", i, p)
		}
	}
	if again, err := dataset.Load(spec, text(file)); err != nil || again.Hash != d.Hash {
		t.Errorf("loaded again: %v", err)
	}
}

func FuzzJSONL(f *testing.F) {
	f.Add("{\"prompt\":\"a\",\"output_tokens\":3}\n")
	f.Add(`{"messages":[{"role":"user","content":"hi"}],"max_tokens":4}`)
	f.Add("\ufeff\r\n{\"prompt\":null}")
	f.Fuzz(func(t *testing.T, file string) { checkLoad(t, jsonl, file) })
}

func FuzzShareGPT(f *testing.F) {
	f.Add(`[{"id":"a","conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"a b"}]}]`, true)
	f.Add(`[{"conversations":[]},{"conversations":[{"from":"user","value":"q"}]}]`, false)
	f.Fuzz(func(t *testing.T, file string, answers bool) {
		checkLoad(t, with(shareGPT, func(s *dataset.Spec) { s.AnswerLengths = answers }), file)
	})
}

func FuzzTrace(f *testing.F) {
	f.Add(twoShare, 512)
	f.Add(`{"timestamp":0.5,"input_length":10,"output_length":2}`, 64)
	f.Fuzz(func(t *testing.T, file string, block int) {
		checkLoad(t, with(trace, func(s *dataset.Spec) { s.Block = block }), file)
	})
}

func FuzzTable(f *testing.F) {
	f.Add(azureHead+"2023-11-16 18:15:46.5,7,3\n2023-11-16 18:15:48.75,2,4\n", true)
	f.Add("Timestamp,Request tokens,Response tokens\n5,7,3\n", false)
	f.Fuzz(func(t *testing.T, file string, dates bool) {
		spec := burstGPT
		if dates {
			spec = azure
		}
		checkLoad(t, spec, file)
	})
}
