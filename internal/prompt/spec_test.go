package prompt_test

import (
	"math"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/prompt"
)

func fixed(n int) prompt.Lengths { return prompt.Lengths{Dist: prompt.Fixed, Value: n} }

func logNormal(p50 int, sigma float64) prompt.Lengths {
	return prompt.Lengths{Dist: prompt.LogNormal, P50: p50, Sigma: sigma}
}

func TestValidateSaysWhatToDo(t *testing.T) {
	t.Parallel()
	type spec = prompt.Spec
	uniform := func(low, high int) prompt.Lengths { return prompt.Lengths{Dist: prompt.Uniform, Min: low, Max: high} }
	for _, c := range []struct {
		spec spec
		want string
	}{
		{spec{}, "kind: is missing: write one of builtin, random"},
		{spec{Kind: "radnom"}, "did you mean random?"},
		{spec{Kind: "xxxxxxxxxx"}, `kind: "xxxxxxxxxx" is not known: write one of`},
		{spec{Kind: prompt.Builtin, Set: "chta"}, "did you mean chat?"},
		{spec{Kind: prompt.Builtin, N: 11}, "has 10 prompts and not 11: write at most 10"},
		{spec{Kind: prompt.Builtin, Input: fixed(3)}, `input: does not apply to kind builtin with set "chat" but to random`},
		{spec{Kind: prompt.Builtin, Set: prompt.RAGSet, Input: fixed(prompt.MaxWords)}, "input.value: 131072 is out of range"},
		{spec{Kind: prompt.Builtin, Set: prompt.RAGSet, Groups: 201}, "groups: 1 groups have no prompt among 200: write n of at least 201"},
		{spec{Kind: prompt.Random}, "input: is missing"},
		{spec{Kind: prompt.Random, Path: "x"}, "path: does not apply to kind random but to jsonl, sharegpt, trace"},
		{spec{Kind: prompt.Random, N: -1, Input: fixed(1)}, "n: -1 is out of range"},
		{spec{Kind: prompt.Random, N: prompt.MaxPrompts + 1, Input: fixed(1)}, "n: 1000001 is out of range"},
		{spec{Kind: prompt.Random, Seed: -1, Input: fixed(1)}, "seed: -1 is negative"},
		{spec{Kind: prompt.Random, Input: prompt.Lengths{Value: 1}}, "input.dist: is missing"},
		{spec{Kind: prompt.Random, Input: prompt.Lengths{Dist: "unifrom", Min: 1}}, "did you mean uniform?"},
		{spec{Kind: prompt.Random, Input: prompt.Lengths{Dist: prompt.Fixed, Value: 3, Min: 1}}, "input: dist fixed takes only value"},
		{spec{Kind: prompt.Random, Input: prompt.Lengths{Dist: prompt.Uniform, Value: 3, Min: 1}}, "input: dist uniform takes only min and max"},
		{spec{Kind: prompt.Random, Input: uniform(0, 3)}, "input.min: 0 is out of range"},
		{spec{Kind: prompt.Random, Input: uniform(4, 3)}, "input.max: 3 is out of range: write a number from 4"},
		{spec{Kind: prompt.Random, Input: logNormal(10, 0)}, "input.sigma: 0 is out of range"},
		{spec{Kind: prompt.Random, Input: logNormal(10, math.NaN())}, "input.sigma: NaN is out of range"},
		{spec{Kind: prompt.Random, Input: logNormal(0, 1)}, "input.p50: 0 is out of range"},
		{spec{Kind: prompt.Random, Input: prompt.Lengths{Dist: prompt.LogNormal, P50: 9, Sigma: 1, Max: 8}}, "input.p50: 9 is out of range"},
		{spec{Kind: prompt.Random, Input: prompt.Lengths{Dist: prompt.LogNormal, P50: 9, Sigma: 1, Value: 8}}, "input.value: is for dist fixed"},
		{spec{Kind: prompt.Random, Input: fixed(1), Output: fixed(prompt.MaxOutput + 1)}, "output.value: 1048577 is out of range"},
		{spec{Kind: prompt.Lognormal, Input: fixed(3)}, "input.dist: kind lognormal has lognormal lengths"},
		{spec{Kind: prompt.SharedPrefix, Input: fixed(3), Groups: 2}, "groups and prefix: kind shared-prefix needs both"},
		{spec{Kind: prompt.SharedPrefix, Input: fixed(3), Groups: 2, Prefix: prompt.MaxWords}, "prefix: leaves no room"},
		{spec{Kind: prompt.SharedPrefix, Input: fixed(3), Groups: 2, Prefix: prompt.MaxWords - 2}, "input.value: 3 is out of range: write a number from 1 to 2"},
		{spec{Kind: prompt.JSONL}, "path: is missing: name the file"},
		{spec{Kind: prompt.JSONL, Path: "a\x1b[31m"}, "has a character that cannot be shown"},
		{spec{Kind: prompt.JSONL, Path: "a", Input: fixed(3)}, "input: does not apply to kind jsonl"},
		{spec{Kind: prompt.ShareGPT, Path: "a", AnswerLengths: true, Output: fixed(3)}, "output: answer_lengths takes lengths from the file"},
		{spec{Kind: prompt.Trace, Path: "a"}, "time_unit: \"\" is not known: write ms"},
		{spec{Kind: prompt.Trace, Path: "a", TimeUnit: "us"}, "time_unit: \"us\" is not known"},
		{spec{Kind: prompt.Trace, Path: "a", TimeUnit: "s", Output: fixed(3)}, "output: does not apply to kind trace"},
	} {
		err := c.spec.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v:\n got %v\nwant %s", c.spec, err, c.want)
		}
		if _, loaded := prompt.Load(c.spec, nil); loaded == nil {
			t.Errorf("%+v: loads", c.spec)
		}
	}
}
