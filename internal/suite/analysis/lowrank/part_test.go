package lowrank_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
	"github.com/accelgate/accelgate/internal/tensor"
)

// parts runs all ranks, each through its document.
func parts(t *testing.T, j lowrank.Job, strategy lowrank.Strategy, world int) []lowrank.Part {
	t.Helper()
	if j.Factors == nil {
		j.Solver = svd.Go()
	}
	list := make([]lowrank.Part, world)
	for rank := range list {
		p, err := j.RunPart(t.Context(), strategy, world, rank)
		if err != nil {
			t.Fatal(err)
		}
		list[rank] = reread(t, p)
	}
	return list
}

func reread(t *testing.T, p lowrank.Part) lowrank.Part {
	t.Helper()
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	p, err := lowrank.ReadPart(&text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMergeIsRun: ranks in any order give the report of one process, byte for
// byte, with failures, skipped targets and ranks that had nothing to do.
func TestMergeIsRun(t *testing.T) {
	t.Parallel()
	weights := model(tensor.Float64)
	factors := factorize(t, weights, lowrank.Defaults())
	planted := factors.clone()
	edit(planted, attention+"osft_S_high", func(s []float64) { s[0] = -s[0] })
	delete(planted, "model.layers.0.mlp.up_proj.osft_U_high")
	planted["x.osft_params.rank_high"] = tensor.Tensor{DType: tensor.Int64, Data: make([]byte, 8)}
	withRow := model(tensor.BF16)
	withRow["self_attn.o_proj.weight"] = normal(source(9), tensor.BF16, 1, 9, 1)
	for name, j := range map[string]lowrank.Job{
		"decomposed": {Original: many(7), Settings: lowrank.Defaults()},
		"skipped":    {Original: withRow, Settings: with(tensor.Float32, tensor.BF16)},
		"verified":   {Original: weights, Factors: factors, Settings: lowrank.Defaults()},
		"faults":     {Original: weights, Factors: planted, Settings: lowrank.Defaults()},
		"nothing":    {Original: memory{}, Settings: lowrank.Defaults()},
	} {
		want := asJSON(t, run(t, j))
		for _, strategy := range lowrank.Strategies {
			for _, world := range []int{1, 3, 11} {
				list := parts(t, j, strategy, world)
				slices.Reverse(list)
				got, err := lowrank.Merge(list)
				if err != nil {
					t.Fatal(err)
				}
				if got := asJSON(t, got); got != want {
					t.Errorf("%s, %s on %d: %s, want %s", name, strategy, world, got, want)
				}
			}
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	j := lowrank.Job{Original: many(7), Settings: lowrank.Defaults()}
	own := parts(t, j, lowrank.LPT, 3)
	other := j
	other.Settings.Tolerance = 1e-6
	settings := parts(t, other, lowrank.LPT, 3)
	other = j
	changed := many(7)
	edit(changed, "layers.3.self_attn.q_proj.weight", func(v []float64) { v[5] += .5 })
	other.Original = changed
	inputs := parts(t, other, lowrank.LPT, 3)
	robin, four := parts(t, j, lowrank.RoundRobin, 3), parts(t, j, lowrank.LPT, 4)
	lost := own[1]
	lost.Entries = lost.Entries[1:]
	twice := own[1]
	twice.Entries = append(slices.Clone(own[0].Entries[:1]), own[1].Entries...)
	slices.SortFunc(twice.Entries, func(a, b lowrank.Entry) int { return a.Index - b.Index })
	renamed := reread(t, own[1])
	renamed.Entries[0].Parameter.Name = own[0].Entries[0].Parameter.Name
	moved := reread(t, own[1]) // has one entry twice and another not at all, and as many as it should
	moved.Entries[0].Index = own[0].Entries[len(own[0].Entries)-1].Index
	slices.SortFunc(moved.Entries, func(a, b lowrank.Entry) int { return a.Index - b.Index })
	skips := own[1]
	skips.Skipped = []lowrank.Skip{{Name: "x"}}
	for _, c := range []struct {
		name  string
		parts []lowrank.Part
		want  string
	}{
		{"none", nil, "no parts"},
		{"a gap", []lowrank.Part{own[0], own[2]}, "no part of rank 1 of 3"},
		{"the last missing", own[:2], "no part of rank 2 of 3"},
		{"a duplicate", []lowrank.Part{own[0], own[1], own[1], own[2]}, "two parts of rank 1"},
		{"other settings", []lowrank.Part{own[0], settings[1], own[2]}, `"tolerance":0.000001`},
		{"other inputs", []lowrank.Part{own[0], inputs[1], own[2]}, "other tensors"},
		{"another strategy", []lowrank.Part{own[0], robin[1], own[2]}, "round-robin"},
		{"another world", []lowrank.Part{own[0], own[1], four[2]}, "one of 4"},
		{"a parameter lost", []lowrank.Part{own[0], lost, own[2]}, "no part has parameter"},
		{"a parameter twice", []lowrank.Part{own[0], twice, own[2]}, "two parts have parameter"},
		{"a name twice", []lowrank.Part{own[0], renamed, own[2]}, "two parts have parameter"},
		{"a parameter in another's place", []lowrank.Part{own[0], moved, own[2]}, "run all ranks with the same program"},
		{"other targets skipped", []lowrank.Part{own[0], skips, own[2]}, "other tensors"},
		{"a schema of the future", []lowrank.Part{{Schema: 2}}, "schema 2"},
	} {
		if _, err := lowrank.Merge(c.parts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestDigestSeesAll: every tensor that is compared, and only those, changes the
// digest.
func TestDigestSeesAll(t *testing.T) {
	t.Parallel()
	weights := model(tensor.Float64)
	factors := factorize(t, weights, lowrank.Defaults())
	digest := func(w, f memory) string {
		p, err := lowrank.Job{Original: w, Factors: f, Settings: lowrank.Defaults()}.RunPart(t.Context(), lowrank.LPT, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		return p.Inputs
	}
	want := digest(weights, factors)
	for _, m := range []memory{weights, factors} {
		for _, name := range m.Names() {
			w, f := weights.clone(), factors.clone()
			changed := w
			if _, ok := w[name]; !ok {
				changed = f
			}
			changed[name].Data[0] ^= 1
			compared := strings.Contains(name, "proj") && !strings.HasSuffix(name, "bias")
			if got := digest(w, f); (got != want) != compared {
				t.Errorf("%s changed, and the digest: %v", name, got != want)
			}
		}
	}
}

func TestRankIsChecked(t *testing.T) {
	t.Parallel()
	j := lowrank.Job{Original: memory{}, Settings: lowrank.Defaults()}
	for _, c := range [][2]int{{2, 2}, {2, -1}, {0, 0}} {
		if _, err := j.RunPart(t.Context(), lowrank.LPT, c[0], c[1]); err == nil {
			t.Errorf("rank %d of %d runs", c[1], c[0])
		}
	}
}

// TestReadPartRefuses changes one thing of a good document.
func TestReadPartRefuses(t *testing.T) {
	t.Parallel()
	var good bytes.Buffer
	p, err := lowrank.Job{Original: many(2), Settings: lowrank.Defaults(), Solver: svd.Go()}.RunPart(t.Context(), lowrank.LPT, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.Entries[0].Parameter.Status, p.Entries[0].Parameter.Faults = lowrank.Failed, []lowrank.Fault{{Kind: lowrank.Order, Detail: "x: y"}}
	if err := p.Write(&good); err != nil {
		t.Fatal(err)
	}
	if got, err := lowrank.ReadPart(bytes.NewReader(good.Bytes())); err != nil || !reflect.DeepEqual(got, p) {
		t.Fatalf("%v, %+v, want %+v", err, got, p)
	}
	for _, c := range [][2]string{
		{`"schema": 1`, `"schema": 2`}, {`"schema": 1`, `"schema": 1, "extra": 0`}, {`"decomposed"`, `"guessed"`},
		{`"rank_ratio": 0.5`, `"rank_ratio": 0`}, {`"inputs": "`, `"inputs": "00`}, {`"lpt"`, `"fair"`},
		{`"world": 1`, `"world": 0`}, {`"rank": 0`, `"rank": 1`}, {`"rank": 0`, `"rank": -1`}, {`"items": 2`, `"items": 1`}, {`"items": 2`, `"items": -2`},
		{`"items": 2`, `"items": 99999999999`}, {`"index": 1`, `"index": 0`}, {`"index": 1`, `"index": 2`}, {`"index": 0`, `"index": -1`},
		{`"name": "l`, `"name": "","x":"l`}, {`"float16"`, `"float12"`}, {`"high": 6`, `"high": 99`}, {`"high": 6`, `"high": -1`},
		{`"status": "failed"`, `"status": "close"`}, {`"status": "close"`, `"status": "identical"`}, {`"status": "close"`, `"status": "failed"`},
		{`"kind": "order"`, `"kind": "disorder"`}, {`"detail": "x: y"`, `"detail": "` + strings.Repeat("x", 1001) + `"`},
		{`"match": "close"`, `"match": "identical"`}, {`"elements": 240`, `"elements": 241`}, {`"outside": 0`, `"outside": 1`}, {`"outside": 0`, `"outside": -1`},
		{`"max": `, `"max": -`}, {`"mean": `, `"mean": 9`}, {`"rms": `, `"rms": 9`}, {`"norm": `, `"norm": -`}, {`"relative_frobenius": `, `"relative_frobenius": -`},
		{`"bound": `, `"bound": -`}, {`"deviation": `, `"deviation": -`}, {`"degrees": `, `"degrees": -`},
		{`"ulps": [`, `"ulps": [1,`}, {`"ulps": [`, `"ulps": [-1,1,`}, {`"shape": [`, `"shape": [3,`}, {`"difference": {`, `"zeros": 1, "u": null, "difference": {`},
	} {
		text := strings.Replace(good.String(), c[0], c[1], 1)
		if text == good.String() {
			t.Errorf("%q is not there", c[0])
		}
		if p, err := lowrank.ReadPart(strings.NewReader(text)); err == nil {
			t.Errorf("with %q for %q it is read: %s", c[1], c[0], asJSON(t, p))
		}
	}
	for name, change := range map[string]func(*lowrank.Parameter){
		"an angle above 90":     func(p *lowrank.Parameter) { p.U.Degrees = 91 },
		"more zeros than there": func(p *lowrank.Parameter) { p.V.Zeros = 14 },
		"a match without V":     func(p *lowrank.Parameter) { p.V = nil },
		"no bound":              func(p *lowrank.Parameter) { p.Bound = 0 },
		"a huge difference":     func(p *lowrank.Parameter) { p.Difference.Max = 1e200 },
		"a huge shape":          func(p *lowrank.Parameter) { p.Shape = []int{1 << 33, 1 << 33} },
	} {
		changed := reread(t, p)
		change(&changed.Entries[1].Parameter)
		var text bytes.Buffer
		if err := changed.Write(&text); err != nil {
			t.Fatal(err)
		}
		if _, err := lowrank.ReadPart(&text); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	for _, text := range []string{"", "null", "[]", "{}", good.String() + "{}", good.String()[:100]} {
		if _, err := lowrank.ReadPart(strings.NewReader(text)); err == nil {
			t.Errorf("%.20q is read", text)
		}
	}
}

// FuzzReadPart: nothing panics, and what is accepted is written and read again
// as the same, and merges into a report that can be written.
func FuzzReadPart(f *testing.F) {
	failed := many(1)
	edit(failed, failed.Names()[0], func(v []float64) { v[0] = math.NaN() })
	for _, m := range []memory{many(1), failed, {}} {
		p, err := lowrank.Job{Original: m, Settings: with(tensor.Float32, tensor.BF16), Solver: svd.Go()}.RunPart(f.Context(), lowrank.LPT, 1, 0)
		if err != nil {
			f.Fatal(err)
		}
		text, err := json.Marshal(p) // short, which fuzzing is faster with
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := lowrank.ReadPart(bytes.NewReader(data))
		if err != nil {
			return
		}
		if again := reread(t, p); asJSON(t, again) != asJSON(t, p) {
			t.Fatalf("%+v became %+v", p, again)
		}
		p.World, p.Rank = 1, 0
		r, err := lowrank.Merge([]lowrank.Part{p})
		if err != nil {
			return // entries of other ranks are missing
		}
		asJSON(t, r)
		if s := r.Summary; s.Total != s.Identical+s.Close+s.Different+s.Failed || s.Total != len(p.Entries) {
			t.Fatalf("%+v", s)
		}
		if err := r.WriteLegacy(&bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
	})
}
