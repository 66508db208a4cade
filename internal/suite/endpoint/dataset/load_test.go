package dataset_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/hashes.txt")

// text opens a string in place of any file.
func text(s string) dataset.Open {
	return func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
}

func load(t testing.TB, spec dataset.Spec, open dataset.Open) *dataset.Dataset {
	t.Helper()
	d, err := dataset.Load(spec, open)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func all(d *dataset.Dataset) (prompts []dataset.Prompt) {
	for i := range d.Len() {
		prompts = append(prompts, d.Prompt(i))
	}
	return prompts
}

var (
	jsonl    = dataset.Spec{Kind: dataset.JSONL, Path: "prompts.jsonl"}
	shareGPT = dataset.Spec{Kind: dataset.ShareGPT, Path: "chats.json"}
	azure    = dataset.Spec{Kind: dataset.Trace, Path: "azure.csv", Format: dataset.Azure}
	burstGPT = dataset.Spec{Kind: dataset.Trace, Path: "burst.csv", Format: dataset.BurstGPT}
	trace    = dataset.Spec{Kind: dataset.Trace, Path: "trace.jsonl", TimeUnit: "ms"}
)

// with returns a copy of spec that change has changed.
func with(spec dataset.Spec, change func(*dataset.Spec)) dataset.Spec {
	change(&spec)
	return spec
}

func TestFilesThatAreWrong(t *testing.T) {
	t.Parallel()
	const turn = `{"messages":[{"role":"user","content":"hi"}]}`
	long := strings.Repeat("x ", dataset.MaxPromptBytes/2+1)
	for _, c := range []struct {
		spec dataset.Spec
		file string
		want string
	}{
		{jsonl, "", "prompts.jsonl: the file holds no prompt"},
		{jsonl, "\n\n", "the file holds no prompt"},
		{with(jsonl, func(s *dataset.Spec) { s.N = 2 }), turn, "holds 1 prompt and n asks for 2: write n: 1, or 0"},
		{jsonl, turn + "\n{\"prompt\":", `prompts.jsonl:2: the text "{\"prompt\":" is not a JSON object`},
		{jsonl, "\x1b[31m", `:1: the text "\x1b[31m" is not`},
		{jsonl, "null", ":1: the text \"null\" is not a JSON object"},
		{jsonl, "[1]", ":1: the line is a list"},
		{jsonl, "{\"prompt\":\"\xff\"}", ":1: the text is not valid UTF-8"},
		{jsonl, `{"promt":"a"}`, "did you mean prompt?"},
		{jsonl, `{"Prompt":"a"}`, "did you mean prompt?"},
		{jsonl, `{"text":"a"}`, `neither prompt nor messages: write {"prompt"`},
		{jsonl, `{"prompt":"a","messages":[]}`, "keep one of the two"},
		{jsonl, `{"prompt":["a"]}`, `prompt is "[\"a\"]" and not text`},
		{jsonl, `{"prompt":"  "}`, "prompt is empty"},
		{jsonl, `{"prompt":"` + long + `"}`, "may have 1048576: shorten it"},
		{jsonl, strings.Repeat(" ", 9<<20), ":1: the line has more than 8388608 bytes"},
		{jsonl, `{"prompt":"a","output_tokens":0}`, `output_tokens is "0": write a whole number from 1`},
		{jsonl, `{"prompt":"a","output_tokens":1.5}`, `output_tokens is "1.5"`},
		{jsonl, `{"prompt":"a","output_tokens":2,"max_tokens":3}`, "output_tokens is 2 and max_tokens 3: keep one"},
		{jsonl, `{"messages":[]}`, "messages has no content"},
		{jsonl, `{"messages":[null]}`, "message 1: role is"},
		{jsonl, `{"messages":"a"}`, "messages is \"\\\"a\\\"\" and not a list"},
		{jsonl, `{"messages":[{"role":"usre","content":"a"}]}`, "did you mean user?"},
		{jsonl, `{"messages":[{"role":"user","content":[{"type":"text"}]}]}`, "message 1: content is"},
		{shareGPT, "{}", "chats.json:1: the file is not a JSON list"},
		{shareGPT, "[]", "the file holds no prompt"},
		{shareGPT, "[", "the list has no end"},
		{shareGPT, "[]]", "more text follows the list"},
		{shareGPT, `[{"conversations":[]},7]`, `conversation 2, byte 22: the text "7" is not a JSON object`},
		{shareGPT, `[{"id":"a"}]`, `conversations is "" and not a list`},
		{shareGPT, `[{"conversations":[{"from":"human","value":7}]}]`, `value is "7" and not text`},
		{shareGPT, `["` + strings.Repeat("x", 9<<20) + `"]`, "conversation 1, byte 1: one conversation has more than 8388608 bytes"},
		{azure, "", "azure.csv: the file holds no prompt"},
		{azure, "TIMESTAMP,ContextTokens\n", "azure.csv:1: the first line \"TIMESTAMP,ContextTokens\" has no column GeneratedTokens"},
		{azure, azureHead + "2023-11-16 18:15:46,1\n", "azure.csv:2: the row has 2 values and the header 3"},
		{azure, azureHead + "yesterday,1,1\n", "TIMESTAMP is \"yesterday\": write a date"},
		{azure, azureHead + "2023-11-16 18:15:46,-1,1\n", "ContextTokens is \"-1\": write a whole number from 0"},
		{azure, azureHead + "2023-11-16 18:15:46,1,9999999\n", "GeneratedTokens is \"9999999\""},
		{azure, azureHead + "2023-11-16 18:15:46,1,1\n2023-11-16 18:15:45,1,1\n", "azure.csv:3: timestamp -1 is before 0 of an earlier line"},
		{burstGPT, "Timestamp,Request tokens,Response tokens\n-5,1,1\n", "Timestamp is \"-5\": write seconds"},
		{trace, `{"input_length":1,"output_length":1}`, "trace.jsonl:1: timestamp is missing"},
		{trace, `{"timestamp":"1","input_length":1,"output_length":1}`, "timestamp is \"\\\"1\\\"\": write a number"},
		{trace, `{"timestamp":1e300,"input_length":1,"output_length":1}`, "timestamp is"},
		{trace, `{"timestamp":0,"output_length":1}`, "input_length is missing"},
		{trace, `{"timestamp":0,"input_length":200000,"output_length":1}`, "write a whole number from 1 to 131072"},
		{trace, `{"timestamp":0,"input_length":5,"output_length":1,"hash_ids":["a"]}`, "hash_ids is"},
		{trace, `{"timestamp":0,"input_length":512,"output_length":1,"hash_ids":[1,2]}`, "has 2 blocks and input_length fills only 1 of 512"},
		{trace, "{\"timestamp\":5,\"input_length\":1,\"output_length\":1}\n{\"timestamp\":4,\"input_length\":1,\"output_length\":1}",
			"trace.jsonl:2: timestamp 4 is before 5 of an earlier line"},
		{trace, "{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n{\"timestamp\":1e12,\"input_length\":1,\"output_length\":1}",
			"more than a year after the first"},
	} {
		if _, err := dataset.Load(c.spec, text(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q:\n got %v\nwant %s", c.file, err, c.want)
		} else if strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%.60q: the message holds control characters: %q", c.file, err)
		}
	}
}

func TestMissingFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := dataset.Load(jsonl, dataset.Folder(dir))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no other dataset is taken instead") {
		t.Errorf("missing: %v", err)
	}
	if _, err := dataset.Load(with(jsonl, func(s *dataset.Spec) { s.Path = "." }), dataset.Folder(dir)); err == nil ||
		!strings.Contains(err.Error(), "is not a regular file: correct path") {
		t.Errorf("folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, jsonl.Path), []byte(`{"prompt":"a"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	absolute := with(jsonl, func(s *dataset.Spec) { s.Path = filepath.Join(dir, jsonl.Path) })
	for _, spec := range []dataset.Spec{jsonl, absolute} {
		if d := load(t, spec, dataset.Folder(dir)); d.ID != "jsonl:prompts.jsonl" || d.Prompt(0).Text != "a" {
			t.Errorf("got %s %+v", d.ID, d.Prompt(0))
		}
	}
}

type failing struct{ io.Reader }

func (failing) Read([]byte) (int, error) { return 0, errors.New("input/output error") }
func (failing) Close() error             { return nil }

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, spec := range []dataset.Spec{jsonl, shareGPT, trace} {
		if _, err := dataset.Load(spec, func(string) (io.ReadCloser, error) { return failing{}, nil }); err == nil {
			t.Errorf("%s: a failing disk is not an error", spec.Kind)
		}
	}
}

func TestFilesAsTheyAre(t *testing.T) {
	t.Parallel()
	type p = dataset.Prompt
	for _, c := range []struct {
		name string
		spec dataset.Spec
		file string
		want []p
	}{
		{"vLLM's and ours, with blank lines, a mark and other keys", jsonl,
			"\ufeff{\"prompt\": \"Say  hi.\", \"output_tokens\": 7, \"x\": [1]}\r\n\n{\"prompt\":\"b\",\"max_tokens\":8,\"output_tokens\":8}\n",
			[]p{{Text: "Say  hi.", InputLength: 2, OutputTokens: 7}, {Text: "b", InputLength: 1, OutputTokens: 8}}},
		{"messages", jsonl, `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]}`,
			[]p{{Messages: []dataset.Message{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "hi"}}, InputLength: 3}}},
		{"output where a line has none", with(jsonl, func(s *dataset.Spec) { s.Output = fixed(5) }),
			"{\"prompt\":\"a\"}\n{\"prompt\":\"b\",\"max_tokens\":6}",
			[]p{{Text: "a", InputLength: 1, OutputTokens: 5}, {Text: "b", InputLength: 1, OutputTokens: 6}}},
		{"the first n", with(jsonl, func(s *dataset.Spec) { s.N = 1 }), "{\"prompt\":\"a\"}\nrest", []p{{Text: "a", InputLength: 1}}},
		{"first question", shareGPT, `[{"conversations":[{"from":"system","value":"s"},{"from":"user","value":"one two"},{"from":"gpt","value":"x"}]}]`,
			[]p{{Text: "one two", InputLength: 2}}},
		{"length of the answer", with(shareGPT, func(s *dataset.Spec) { s.AnswerLengths = true }),
			`[{"conversations":[{"from":"human","value":"q"},{"from":"human","value":"r"}]},
			{"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"x y z"}]}]`,
			[]p{{Text: "q", InputLength: 1, OutputTokens: 3}}},
	} {
		if diff := cmp.Diff(c.want, all(load(t, c.spec, text(c.file)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestSkippedConversationsAreCounted(t *testing.T) {
	t.Parallel()
	d := load(t, shareGPT, text(`[{"conversations":[]},{"conversations":[{"from":"gpt","value":"x"}]},{"conversations":[{"from":"human","value":"q"}]}]`))
	if d.Skipped != 2 || d.Len() != 1 {
		t.Errorf("skipped %d, kept %d; want 2 and 1", d.Skipped, d.Len())
	}
}

const twoShare = `{"timestamp": 1000, "input_length": 1100, "output_length": 5, "hash_ids": [46, 47, 48]}
{"timestamp": 1027.5, "input_length": 1030, "output_length": 6, "hash_ids": [46, 47, 49]}
{"timestamp": 4000, "input_length": 600, "output_length": 7, "hash_ids": [50]}
{"timestamp": 4000, "input_length": 600, "output_length": 7, "hash_ids": [50]}
`

func TestTraceSharesWhatItShared(t *testing.T) {
	t.Parallel()
	d := load(t, trace, text(twoShare))
	var split [][]string
	for i, want := range []int{1100, 1030, 600, 600} {
		p := d.Prompt(i)
		split = append(split, strings.Fields(p.Text))
		if len(split[i]) != want || p.InputLength != want || p.OutputTokens == 0 {
			t.Errorf("prompt %d: %d words, length %d, output %d; want %d", i, len(split[i]), p.InputLength, p.OutputTokens, want)
		}
	}
	if common := sharedWords(split[0], split[1]); common < 1024 || common > 1030-1 {
		t.Errorf("two equal blocks of 512 share %d words", common)
	}
	if common := sharedWords(split[2], split[3]); common < 512 || common > 520 {
		t.Errorf("one equal block and text of their own share %d words", common)
	}
	if common := sharedWords(split[0], split[2]); common > 10 {
		t.Errorf("different blocks share %d words", common)
	}
	want := []time.Duration{0, 27500 * time.Microsecond, 3 * time.Second, 3 * time.Second}
	if diff := cmp.Diff(want, d.Arrivals()); diff != "" {
		t.Errorf("arrivals: %s", diff)
	}
	seconds := load(t, with(trace, func(s *dataset.Spec) { s.TimeUnit = "s" }), text(twoShare))
	if got := seconds.Prompt(3).At; got != 3000*time.Second {
		t.Errorf("in seconds: %v", got)
	}
	if seconds.Hash == d.Hash {
		t.Error("other times, equal hashes")
	}
}

func sharedWords(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// datasets are those whose hashes are recorded.
var datasets = []struct {
	name string
	spec dataset.Spec
	file string
}{
	{"builtin chat", dataset.Spec{Kind: dataset.Builtin}, ""},
	{"builtin code", dataset.Spec{Kind: dataset.Builtin, Set: dataset.CodeSet, Output: fixed(64)}, ""},
	{"builtin rag", dataset.Spec{Kind: dataset.Builtin, Set: dataset.RAGSet, N: 8, Groups: 2}, ""},
	{"builtin long-context", dataset.Spec{Kind: dataset.Builtin, Set: dataset.ContextSet, N: 3, Seed: 5}, ""},
	{"random fixed", dataset.Spec{Kind: dataset.Random, Input: fixed(50)}, ""},
	{"random fixed, seed 1", dataset.Spec{Kind: dataset.Random, Input: fixed(50), Seed: 1}, ""},
	{"random uniform", dataset.Spec{Kind: dataset.Random, Input: dataset.Lengths{Dist: dataset.Uniform, Min: 1, Max: 100}}, ""},
	{"lognormal", dataset.Spec{Kind: dataset.Lognormal, Seed: 7, Input: dataset.Lengths{P50: 100, Sigma: 1}, Output: dataset.Lengths{P50: 60, Sigma: 0.8}}, ""},
	{"shared-prefix", dataset.Spec{Kind: dataset.SharedPrefix, Groups: 4, Prefix: 100, Input: fixed(20)}, ""},
	{"jsonl", jsonl, "{\"prompt\":\"a b\"}\n{\"messages\":[{\"role\":\"user\",\"content\":\"a b\"}]}"},
	{"sharegpt", shareGPT, `[{"conversations":[{"from":"human","value":"a b"}]}]`},
	{"trace", trace, twoShare},
}

func TestHashesAreRecorded(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	seen := map[string]string{}
	for _, c := range datasets {
		d := load(t, c.spec, text(c.file))
		if again := load(t, c.spec, text(c.file)); again.Hash != d.Hash {
			t.Errorf("%s: %s, and again %s", c.name, d.Hash, again.Hash)
		}
		if other, taken := seen[d.Hash]; taken {
			t.Errorf("%s and %s have one hash", c.name, other)
		}
		seen[d.Hash] = c.name
		fmt.Fprintf(&got, "%s  %s\n", d.Hash, c.name)
	}
	path := filepath.Join("testdata", "hashes.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("text or lengths of datasets changed (-recorded +now):\n%s", diff)
	}
}

func TestHashIsOverWhatIsSent(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, file := range []string{
		`{"prompt":"a b"}`, `{"prompt":"a b","max_tokens":1}`, `{"prompt":"a b","max_tokens":2}`, `{"prompt":"a  b"}`,
		"{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}", "{\"prompt\":\"b\"}\n{\"prompt\":\"a\"}", "{\"prompt\":\"ab\"}", `{"prompt":"a"}`,
		`{"messages":[{"role":"user","content":"a b"}]}`, `{"messages":[{"role":"system","content":"a b"}]}`,
		`{"messages":[{"role":"user","content":"a"},{"role":"user","content":" b"}]}`,
	} {
		hash := load(t, jsonl, text(file)).Hash
		if other, taken := seen[hash]; taken {
			t.Errorf("%s and %s have one hash", file, other)
		}
		seen[hash] = file
	}
	if a, b := load(t, jsonl, text(`{"prompt":"a b"}`)), load(t, jsonl, text(` {"x":1, "prompt":"a\u0020b"}`)); a.Hash != b.Hash {
		t.Error("how a file is written changes the hash")
	}
}

const azureHead = "TIMESTAMP,ContextTokens,GeneratedTokens\n"

// TestTablesAreTraces reads the same requests in each form of a table.
func TestTablesAreTraces(t *testing.T) {
	t.Parallel()
	for spec, file := range map[*dataset.Spec]string{
		&azure:    "\ufeff" + azureHead + "2023-11-16 18:15:46.5000000,7,3\r\n2023-11-16 18:15:46.6,9,0\n2023-11-16 18:15:48.75,2,4\n",
		&burstGPT: "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,7,3,10,API log\n6,GPT-4,0,0,0,API log\n7.25,GPT-4,2,4,6,API log\n",
	} {
		d := load(t, *spec, text(file))
		last := d.Prompt(1)
		if d.Len() != 2 || d.Skipped != 1 || last.InputLength != 2 || last.OutputTokens != 4 || last.At != 2250*time.Millisecond {
			t.Errorf("%s: %d prompts, %d passed over, the last %+v", spec.Format, d.Len(), d.Skipped, last)
		}
		if got := d.Arrivals(); got[0] != 0 || got[1] != last.At {
			t.Errorf("%s: arrivals %v", spec.Format, got)
		}
	}
	offset := load(t, azure, text(azureHead+"2024-05-10 00:00:00.009930+00:00,1,1\n2024-05-10T02:00:01.009930+02:00,1,1\n"))
	if at := offset.Prompt(1).At; at != time.Second {
		t.Errorf("dates with offsets are %v apart", at)
	}
}
