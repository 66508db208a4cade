package dataset_test

import (
	"math"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
)

func fixed(n int) dataset.Lengths { return dataset.Lengths{Dist: dataset.Fixed, Value: n} }

func logNormal(p50 int, sigma float64) dataset.Lengths {
	return dataset.Lengths{Dist: dataset.LogNormal, P50: p50, Sigma: sigma}
}

func TestValidateSaysWhatToDo(t *testing.T) {
	t.Parallel()
	type spec = dataset.Spec
	uniform := func(low, high int) dataset.Lengths {
		return dataset.Lengths{Dist: dataset.Uniform, Min: low, Max: high}
	}
	for _, c := range []struct {
		spec spec
		want string
	}{
		{spec{}, "kind: is missing: write one of builtin, random"},
		{spec{Kind: "radnom"}, "did you mean random?"},
		{spec{Kind: "xxxxxxxxxx"}, `kind: "xxxxxxxxxx" is not known: write one of`},
		{spec{Kind: dataset.Builtin, Set: "chta"}, "did you mean chat?"},
		{spec{Kind: dataset.Builtin, N: 11}, "has 10 prompts and not 11: write at most 10"},
		{spec{Kind: dataset.Builtin, Input: fixed(3)}, `input: does not apply to kind builtin with set "chat" but to random`},
		{spec{Kind: dataset.Builtin, Set: dataset.RAGSet, Input: fixed(dataset.MaxWords)}, "input.value: 131072 is out of range"},
		{spec{Kind: dataset.Builtin, Set: dataset.RAGSet, Groups: 201}, "groups: 1 groups have no prompt among 200: write n of at least 201"},
		{spec{Kind: dataset.Random}, "input: is missing"},
		{spec{Kind: dataset.Random, Path: "x"}, "path: does not apply to kind random but to jsonl, sharegpt, trace"},
		{spec{Kind: dataset.Random, N: -1, Input: fixed(1)}, "n: -1 is out of range"},
		{spec{Kind: dataset.Random, N: dataset.MaxPrompts + 1, Input: fixed(1)}, "n: 1000001 is out of range"},
		{spec{Kind: dataset.Random, Seed: -1, Input: fixed(1)}, "seed: -1 is negative"},
		{spec{Kind: dataset.Random, Input: dataset.Lengths{Value: 1}}, "input.dist: is missing"},
		{spec{Kind: dataset.Random, Input: dataset.Lengths{Dist: "unifrom", Min: 1}}, "did you mean uniform?"},
		{spec{Kind: dataset.Random, Input: dataset.Lengths{Dist: dataset.Fixed, Value: 3, Min: 1}}, "input: dist fixed takes only value"},
		{spec{Kind: dataset.Random, Input: dataset.Lengths{Dist: dataset.Uniform, Value: 3, Min: 1}}, "input: dist uniform takes only min and max"},
		{spec{Kind: dataset.Random, Input: uniform(0, 3)}, "input.min: 0 is out of range"},
		{spec{Kind: dataset.Random, Input: uniform(4, 3)}, "input.max: 3 is out of range: write a number from 4"},
		{spec{Kind: dataset.Random, Input: logNormal(10, 0)}, "input.sigma: 0 is out of range"},
		{spec{Kind: dataset.Random, Input: logNormal(10, math.NaN())}, "input.sigma: NaN is out of range"},
		{spec{Kind: dataset.Random, Input: logNormal(0, 1)}, "input.p50: 0 is out of range"},
		{spec{Kind: dataset.Random, Input: dataset.Lengths{Dist: dataset.LogNormal, P50: 9, Sigma: 1, Max: 8}}, "input.p50: 9 is out of range"},
		{spec{Kind: dataset.Random, Input: dataset.Lengths{Dist: dataset.LogNormal, P50: 9, Sigma: 1, Value: 8}}, "input.value: is for dist fixed"},
		{spec{Kind: dataset.Random, Input: fixed(1), Output: fixed(dataset.MaxOutput + 1)}, "output.value: 1048577 is out of range"},
		{spec{Kind: dataset.Lognormal, Input: fixed(3)}, "input.dist: kind lognormal has lognormal lengths"},
		{spec{Kind: dataset.SharedPrefix, Input: fixed(3), Groups: 2}, "groups and prefix: kind shared-prefix needs both"},
		{spec{Kind: dataset.SharedPrefix, Input: fixed(3), Groups: 2, Prefix: dataset.MaxWords}, "prefix: leaves no room"},
		{spec{Kind: dataset.SharedPrefix, Input: fixed(3), Groups: 2, Prefix: dataset.MaxWords - 2}, "input.value: 3 is out of range: write a number from 1 to 2"},
		{spec{Kind: dataset.JSONL}, "path: is missing: name the file"},
		{spec{Kind: dataset.JSONL, Path: "a\x1b[31m"}, "has a character that cannot be shown"},
		{spec{Kind: dataset.JSONL, Path: "a", Input: fixed(3)}, "input: does not apply to kind jsonl"},
		{spec{Kind: dataset.ShareGPT, Path: "a", AnswerLengths: true, Output: fixed(3)}, "output: answer_lengths takes lengths from the file"},
		{spec{Kind: dataset.Trace, Path: "a"}, "time_unit: \"\" is not known: write ms"},
		{spec{Kind: dataset.Random, Input: fixed(3), Unit: "token"}, "length_unit: \"token\" is not known: did you mean tokens?"},
		{spec{Kind: dataset.Builtin, Unit: dataset.Tokens}, "length_unit: builtin with set \"chat\" has no generated prompts"},
		{with(jsonl, func(s *spec) { s.Unit = dataset.Tokens }), "length_unit: jsonl has no generated prompts"},
		{with(talks, func(s *spec) { s.Conversation.Turns = dataset.Lengths{} }), "conversation.turns: is missing"},
		{with(talks, func(s *spec) { s.Conversation.Input = dataset.Lengths{} }), "conversation.input: is missing"},
		{with(talks, func(s *spec) { s.Conversation.Turns = fixed(1001) }), "conversation.turns.value: 1001 is out of range"},
		{with(talks, func(s *spec) { s.Conversation.Think = fixed(3600001) }), "conversation.think_ms.value: 3600001"},
		{with(shareGPT, func(s *spec) { s.Conversation.Input = fixed(3) }), "are recorded: remove it"},
		{with(jsonl, func(s *spec) { s.Conversation.Turns = fixed(3) }), "conversation: does not apply to kind jsonl"},
		{spec{Kind: dataset.Trace, Path: "a", Format: "azur"}, "format: \"azur\" is not known: did you mean azure?"},
		{spec{Kind: dataset.Trace, Path: "a", Format: dataset.Azure, TimeUnit: "s"}, "has a unit of its own"},
		{spec{Kind: dataset.Random, Input: fixed(3), Format: dataset.Azure}, "format: does not apply to kind random"},
		{spec{Kind: dataset.Trace, Path: "a", TimeUnit: "us"}, "time_unit: \"us\" is not known"},
		{spec{Kind: dataset.Trace, Path: "a", TimeUnit: "s", Output: fixed(3)}, "output: does not apply to kind trace"},
	} {
		err := c.spec.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v:\n got %v\nwant %s", c.spec, err, c.want)
		}
		if _, loaded := dataset.Load(c.spec, nil); loaded == nil {
			t.Errorf("%+v: loads", c.spec)
		}
	}
}
