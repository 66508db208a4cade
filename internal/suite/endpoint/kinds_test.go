package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

// TestTextsAreDecidedByTheSeed: the same seed asks the same, another does not,
// and no text is asked twice.
func TestTextsAreDecidedByTheSeed(t *testing.T) {
	t.Parallel()
	for api, path := range map[string]string{"embeddings": "/v1/embeddings", "rerank": "/v1/rerank"} {
		run := func(seed int) []string {
			bodies, r := overheard(t, path, fmt.Sprintf(`
request: {api: %s, inputs: 3}
dataset: {kind: random, n: 200, seed: %d, cache_policy: as-is, input: {dist: uniform, min: 3, max: 9}}
load: {concurrency: [1], requests: 20, auto_ramp: false, warmup: {requests: 1, duration: 0s}}`, api, seed))
			if r.Outcome != bench.Passed || r.Sample("inputs_per_s") == nil {
				t.Fatalf("%s: %s %s", api, r.Outcome, r.Reason)
			}
			var texts []string
			for _, body := range bodies {
				var q struct {
					Input, Documents []string
					Query            string
				}
				if err := json.Unmarshal(body, &q); err != nil || len(q.Input)+len(q.Documents) != 3 {
					t.Fatalf("%s: %v", body, err)
				}
				texts = append(append(append(texts, q.Input...), q.Documents...), q.Query)
			}
			texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
			slices.Sort(texts)
			return texts
		}
		a, other := run(1), run(2)
		again := run(1)
		new := slices.DeleteFunc(slices.Clone(a), func(s string) bool { _, there := slices.BinarySearch(again, s); return there })
		if len(new) > 4 || len(slices.Compact(slices.Clone(a))) != len(a) { // the request at the end of the window may be cut
			t.Errorf("%s: another run asks other texts, %d of %d, or one request those of another", api, len(new), len(a))
		}
		if slices.ContainsFunc(other, func(s string) bool { _, there := slices.BinarySearch(a, s); return there }) {
			t.Errorf("%s: another seed asks the same", api)
		}
	}
}

// TestImagesAreSent in the last message, as data.
func TestImagesAreSent(t *testing.T) {
	t.Parallel()
	bodies, r := overheard(t, "/v1/chat/completions", "request: {files: [dot.png], system: Look., max_tokens: 2}\nload: {concurrency: [1], requests: 3, warmup: {duration: 0s}}")
	image, err := os.ReadFile("testdata/dot.png")
	if err != nil || r.Outcome != bench.Passed {
		t.Fatal(err, r.Outcome, r.Reason)
	}
	var q struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(bodies[0], &q); err != nil {
		t.Fatal(err)
	}
	var parts []struct {
		Type, Text string
		Image      struct{ URL string } `json:"image_url"`
	}
	if err := json.Unmarshal(q.Messages[1].Content, &parts); err != nil || len(parts) != 2 || parts[0].Text == "" {
		t.Fatalf("sent %s: %v", bodies[0], err)
	}
	encoded, _ := json.Marshal(image) // base64
	if want := "data:image/png;base64," + strings.Trim(string(encoded), `"`); parts[1].Type != "image_url" || parts[1].Image.URL != want {
		t.Errorf("sent the image %s", parts[1].Image.URL)
	}
	if len(r.Conditions["files"]) != 64 {
		t.Errorf("conditions %v", r.Context)
	}
}

func TestRecordingsHaveALength(t *testing.T) {
	t.Parallel()
	wav, err := os.ReadFile("testdata/tone.wav")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		want float64
	}{
		"whole":         {wav, 0.05},
		"cut":           {wav[:len(wav)-200], 0.025},
		"no data":       {wav[:36], 0},
		"MP3":           {[]byte("ID3\x04"), 0},
		"an odd chunk":  {slices.Concat(wav[:12], []byte("LIST\x03\x00\x00\x00abc\x00"), wav[12:]), 0.05},
		"a false size":  {slices.Concat(wav[:12], []byte("LIST\xff\xff\xff\xff"), wav[12:]), 0},
		"data at first": {slices.Concat(wav[:12], []byte("data\x01\x00\x00\x00a\x00"), wav[12:]), 0},
	} {
		if got := wavSeconds(c.data); got != c.want {
			t.Errorf("%s: %v s, want %v", name, got, c.want)
		}
	}
}

func FuzzWavSeconds(f *testing.F) {
	wav, err := os.ReadFile("testdata/tone.wav")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wav)
	f.Add(bytes.Repeat([]byte("RIFF\x00\x00\x00\x00WAVE"), 3))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s := wavSeconds(data); !(s >= 0 && s <= float64(len(data))) {
			t.Errorf("%v s", s)
		}
	})
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"{api: embedding}":                                               `unknown API "embedding": write one of chat, completions, embeddings`,
		"{api: embeddings, system: x}":                                   "request.system: is for generated answers",
		"{api: rerank, ignore_eos: true}":                                "request.ignore_eos: is for generated answers",
		"{api: embeddings, inputs: 2049}":                                "request.inputs: is 2049",
		"{inputs: 2}":                                                    "request.inputs: is for embeddings",
		"{api: transcription}":                                           "request.files: is empty",
		"{api: embeddings, files: [dot.png]}":                            "request.files: are images",
		"{files: [tone.wav]}":                                            `"tone.wav" is audio/wave`,
		"{files: [dot.png, none.png]}":                                   "request.files[1]: \"none.png\"",
		"{api: transcription, files: [\"\\e[31m.wav\"]}":                 `\x1b[31m.wav`,
		"{api: embeddings}\ndataset: {kind: jsonl, path: prompts.jsonl}": "",
	} {
		_, err := openBody(t, "x.yaml", "base_url: http://127.0.0.1:9\nrequest: "+keys+"\nload: {concurrency: [1], requests: 1}", env(t))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", keys, err, want)
		}
	}
}
