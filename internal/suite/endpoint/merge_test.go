package endpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// writeShard writes what shard k of n of a small open loop leaves, after an edit, and
// returns the path.
func writeShard(t testing.TB, k, n int, edit func(*ShardFile)) string {
	t.Helper()
	dir, at := t.TempDir(), time.Second
	var list []latency.Observation
	for i := k - 1; i < 12; i += n {
		send := at + time.Duration(i)*100*time.Millisecond
		list = append(list, latency.Observation{Index: i, Phase: load.Measure, Due: send, Reply: openai.Reply{Outcome: openai.OK, Status: 200, Send: send, Conn: send + 1,
			Headers: send + 2, FirstChunk: send + 5e6, First: send + 5e6, FirstContent: send + 5e6, Last: send + 9e6, EOF: send + 9e6, Chunks: 2,
			Tokens: []time.Duration{send + 5e6, send + 9e6}, PromptTokens: 3, OutputTokens: 2, StreamedTokens: 2, CachedTokens: -1, Source: openai.FromUsage,
			ServerPromptMS: math.NaN(), ServerDecodeMS: math.NaN()}})
	}
	epoch := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cell := bench.Cell{Suite: "chat", Params: []bench.Param{{Key: "suite", Value: "chat"}, {Key: "load", Value: "rps10"}}}
	f := &ShardFile{Format: shardFormat, Index: k, Of: n, Start: epoch.Add(at), Config: "c0ffee",
		Settings: settings{Mode: load.Constant, Requests: 12, MinOKRate: 0.95, ClientDelay: 2 * time.Millisecond},
		Part:     part{Epoch: epoch, Began: at, Window: load.Window{Start: at, End: at + 1200*time.Millisecond, Drained: 3 * time.Second}},
		Run: bench.Run{Schema: bench.RunSchema, Tool: "accelgate test", Revision: "abc", Started: epoch, Host: bench.Host{Label: "one"}, Metrics: Catalogue(),
			Results: []bench.Result{{Cell: cell, Outcome: bench.Passed, Caveat: "a part", Context: map[string]string{"mode": "constant", "rate": "10"}}}}}
	if err := saveSamples(dir, samplesName("chat", point{rate: 10}.String(), epoch), list, &f.Run.Results[0]); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(f)
	}
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ShardName(k, n))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mergeFiles(t testing.TB, paths ...string) (*bench.Run, error) {
	t.Helper()
	var list []*ShardFile
	for _, path := range paths {
		f, err := ReadShard(path)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return MergeShards(list, t.TempDir())
}

func TestShardsMerge(t *testing.T) {
	t.Parallel()
	run, err := mergeFiles(t, writeShard(t, 3, 3, nil), writeShard(t, 1, 3, nil), writeShard(t, 2, 3, nil))
	if err != nil {
		t.Fatal(err)
	}
	r := &run.Results[0]
	whole, err := mergeFiles(t, writeShard(t, 1, 1, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range whole.Results[0].Samples {
		if got := r.Sample(want.Metric); got == nil || fmt.Sprint(*got) != fmt.Sprint(want) {
			t.Errorf("%s is %+v, and of one client %+v", want.Metric, got, want)
		}
	}
	if r.Counts["ok"] != 12 || r.Caveat != "" || len(r.Files) != 1 || !strings.Contains(r.Context["clocks"], "shard 3: ") {
		t.Errorf("got %+v", r)
	}
}

func TestShardsThatAreNoWhole(t *testing.T) {
	t.Parallel()
	change := func(edit func(*ShardFile)) []string {
		return []string{writeShard(t, 1, 2, nil), writeShard(t, 2, 2, edit)}
	}
	for name, c := range map[string]struct {
		paths []string
		want  string
	}{
		"absent":        {[]string{writeShard(t, 2, 3, nil)}, "shards are absent: 1/3, 3/3: add their folders"},
		"twice":         {[]string{writeShard(t, 1, 2, nil), writeShard(t, 1, 2, nil)}, "are both shard 1: leave one of them out"},
		"none":          {nil, "no shard was given"},
		"commit":        {change(func(f *ShardFile) { f.Run.Revision = "def" }), `differ in commit ("abc" and "def")`},
		"no commit":     {change(func(f *ShardFile) { f.Run.Revision = "" }), "differ in commit"},
		"tool":          {change(func(f *ShardFile) { f.Run.Tool = "accelgate v9" }), "differ in accelgate"},
		"configuration": {change(func(f *ShardFile) { f.Config = "bad" }), "differ in configuration"},
		"start":         {change(func(f *ShardFile) { f.Start = f.Start.Add(time.Second) }), "differ in start"},
		"suite":         {change(func(f *ShardFile) { f.Run.Results[0].Cell.Suite = "other" }), "differ in suite"},
		"condition":     {change(func(f *ShardFile) { f.Run.Results[0].Context["model"] = "m" }), "differ in model"},
		"number":        {[]string{writeShard(t, 1, 2, nil), writeShard(t, 2, 3, nil)}, "differ in number of shards"},
		"copied":        {[]string{writeShard(t, 1, 2, nil), writeShard(t, 1, 2, func(f *ShardFile) { f.Index = 2 })}, "both hold request 0 of the load"},
		"index":         {change(func(f *ShardFile) { f.Index = 3 }), "it is shard 3 of 2"},
		"format":        {change(func(f *ShardFile) { f.Format = 2 }), "accelgate_shard is 2"},
		"loads":         {change(func(f *ShardFile) { f.Run.Results = nil }), "0 loads"},
		"times":         {change(func(f *ShardFile) { f.Part.Window.End = -1 }), "times cannot be"},
		"path":          {change(func(f *ShardFile) { f.Run.Results[0].Files[0].Name = "../samples.jsonl" }), "samples"},
		"digest":        {change(func(f *ShardFile) { f.Run.Results[0].Files[0].SHA256 = strings.Repeat("0", 64) }), "changed after it was written"},
		"prompts":       {change(func(f *ShardFile) { f.Prompts = "other" }), "differ in lengths of prompts"},
		"mix":           {change(func(f *ShardFile) { f.Settings.Mix = mix{"a b": 1} }), "is not the name of a model"},
		"no samples":    {change(func(f *ShardFile) { f.Run.Results[0].Files = nil }), "names 0 files"},
	} {
		if _, err := mergeFiles(t, c.paths...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestShardsAtOtherTimes: shards that loaded the server one after the other measured
// nothing together.
func TestShardsAtOtherTimes(t *testing.T) {
	t.Parallel()
	late := func(by time.Duration) func(*ShardFile) {
		return func(f *ShardFile) { f.Part.Epoch = f.Part.Epoch.Add(by) }
	}
	run, err := mergeFiles(t, writeShard(t, 1, 2, nil), writeShard(t, 2, 2, late(time.Hour)))
	if err != nil || run.Results[0].Outcome != bench.Failed {
		t.Errorf("got %v, %v", run, err)
	}
	run, err = mergeFiles(t, writeShard(t, 1, 2, nil), writeShard(t, 2, 2, late(300*time.Millisecond)))
	if err != nil || !strings.Contains(run.Results[0].Caveat, "all clients loaded the server at once for 60 % of the time") {
		t.Errorf("got %v, %v", run, err)
	}
}

func FuzzParseShard(f *testing.F) {
	data, err := os.ReadFile(writeShard(f, 1, 1, nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"accelgate_shard":1}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if file, err := parseShard(data); err == nil {
			_ = file.facts()
			merge([]part{file.Part, file.Part}, file.Part.Epoch, load.Plan{Mode: file.Settings.Mode})
		}
	})
}
