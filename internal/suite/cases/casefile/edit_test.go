package casefile_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestEdit has a file for each edit: the case before and after, and the
// changes. What holds for a file holds with Windows' line ends and without a
// final newline.
func TestEdit(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob("testdata/edit/*.txtar")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, input := range inputs {
		t.Run(strings.TrimSuffix(filepath.Base(input), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(input)
			if err != nil || len(archive.Files) != 4 {
				t.Fatalf("%d files, %v", len(archive.Files), err)
			}
			before, after, changes := string(archive.Files[0].Data), &archive.Files[2].Data, &archive.Files[3].Data
			var refresh casefile.Refresh
			if err := json.Unmarshal(archive.Files[1].Data, &refresh); err != nil {
				t.Fatal(err)
			}
			got, said := edit(t, before, refresh)
			if *update {
				*after, *changes = []byte(got), []byte(said)
				if err := os.WriteFile(input, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(got+said, string(*after)+string(*changes)); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
			variants := []*strings.Replacer{strings.NewReplacer("\n", "\r\n"), strings.NewReplacer("}\n-", "}-")}
			for _, r := range variants {
				got, _ := edit(t, strings.TrimSuffix(r.Replace(before+"-"), "-"), refresh)
				if want := strings.TrimSuffix(r.Replace(string(*after)+"-"), "-"); got != want {
					t.Errorf("got\n%q\nwant\n%q", got, want)
				}
			}
		})
	}
}

func edit(t *testing.T, before string, refresh casefile.Refresh) (after, changes string) {
	t.Helper()
	got, all, err := casefile.Edit("case.json", "", []byte(before), refresh)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		changes += fmt.Sprintf("%s: %s -> %s\n", c.JSONPath, c.Old, c.New)
	}
	return string(got), changes
}

func TestEditErrors(t *testing.T) {
	t.Parallel()
	op := func(name string, total float64, calls int64) casefile.Refresh {
		return casefile.Refresh{Operators: []casefile.Operator{{Name: name, TotalTimeS: total, NumCalls: calls}}}
	}
	const fine = `{"name": "c", "description": "d"}`
	for _, test := range []struct {
		text    string
		refresh casefile.Refresh
		want    string
	}{
		{`{"name": "c"}`, casefile.Refresh{}, `c.json:1:1: description: is missing; add it`},
		{fine, casefile.Refresh{InitialTimeS: new(-1.5)}, "refresh c.json: no run takes -1.5 s: measure the case again"},
		{fine, casefile.Refresh{BaselineTimeS: new(math.NaN())}, "refresh c.json: no run takes NaN s: measure the case again"},
		{fine, op("\xff", 1, 1), `refresh c.json: there is no operator "\xff" with 1 calls in 1 s: measure the case again`},
		{fine, op(" ", 1, 1), `refresh c.json: there is no operator " " with 1 calls in 1 s: measure the case again`},
		{fine, op("a", math.Inf(1), 1), `refresh c.json: there is no operator "a" with 1 calls in +Inf s: measure the case again`},
		{fine, op("a", 1, -1), `refresh c.json: there is no operator "a" with -1 calls in 1 s: measure the case again`},
		{fine, op(strings.Repeat("a", 1<<20), 1, 1), "refresh c.json: it would be larger than 1048576 bytes: record fewer operators"},
	} {
		got, changes, err := casefile.Edit("c.json", "", []byte(test.text), test.refresh)
		if err == nil || err.Error() != test.want || got != nil || changes != nil {
			t.Errorf("got %q and the error %v, want %s", got, err, test.want)
		}
	}
}

// TestEditNothing edits msmodeling's own files without changing them, and then
// gives each of their numbers another value.
func TestEditNothing(t *testing.T) {
	t.Parallel()
	for _, path := range realFiles(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := casefile.Parse(path, data)
		if err != nil {
			t.Fatal(err)
		}
		got, changes, err := casefile.Edit(path, "", data, casefile.Refresh{InitialTimeS: &c.InitialTimeS, BaselineTimeS: &c.BaselineTimeS, Operators: c.Operators})
		if err != nil || len(changes) > 0 || string(got) != string(data) {
			t.Errorf("%s: %v, changes %v", path, err, changes)
		}
		fresh := casefile.Refresh{InitialTimeS: new(c.InitialTimeS*1.5 + 1), BaselineTimeS: new(c.BaselineTimeS*1.5 + 1), Operators: slices.Clone(c.Operators)}
		for i := range fresh.Operators {
			fresh.Operators[i].TotalTimeS *= 1.5
			fresh.Operators[i].NumCalls++
		}
		got, changes = checkEdit(t, path, data, fresh)
		if len(changes) < 2+2*len(c.Operators) {
			t.Errorf("%s: only %d changes", path, len(changes))
		}
		checkUntouched(t, string(data), string(got))
	}
}

// checkEdit asserts what holds for every edit that succeeds: the result has
// exactly what was refreshed, and all else as before; editing again does
// nothing; and the changes say what happened.
func checkEdit(t *testing.T, path string, data []byte, refresh casefile.Refresh) ([]byte, []casefile.Change) {
	t.Helper()
	before, err := casefile.Parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	got, changes, err := casefile.Edit(path, "", data, refresh)
	if err != nil {
		t.Fatal(err)
	}
	after, err := casefile.Parse(path, got)
	if err != nil {
		t.Fatalf("%v in\n%s", err, got)
	}
	if (len(changes) == 0) != (string(got) == string(data)) {
		t.Errorf("%d changes turn\n%s\ninto\n%s", len(changes), data, got)
	}
	time := func(name string, got, old float64, fresh *float64) {
		if fresh == nil && got != old || fresh != nil && got != *fresh && got != rounded(*fresh) {
			t.Errorf("%s is %v, was %v, want %v", name, got, old, fresh)
		}
	}
	time("initial_time_s", after.InitialTimeS, before.InitialTimeS, refresh.InitialTimeS)
	time("baseline_time_s", after.BaselineTimeS, before.BaselineTimeS, refresh.BaselineTimeS)
	checkOperators(t, before.Operators, after.Operators, refresh.Operators)
	before.InitialTimeS, before.BaselineTimeS, before.Operators = after.InitialTimeS, after.BaselineTimeS, after.Operators
	if diff := cmp.Diff(after, before); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	again, more, err := casefile.Edit(path, "", got, refresh)
	if err != nil || len(more) > 0 || string(again) != string(got) {
		t.Errorf("the second edit: %v, %v", err, more)
	}
	return got, changes
}

func checkOperators(t *testing.T, old, got, fresh []casefile.Operator) {
	t.Helper()
	if fresh == nil || slices.Equal(fresh, old) {
		if !slices.Equal(got, old) {
			t.Errorf("got %v, want the old %v", got, old)
		}
		return
	}
	if len(got) != len(fresh) || !sorted(got) {
		t.Fatalf("got %d operators, want %d, sorted: %v", len(got), len(fresh), got)
	}
	rest := slices.Clone(fresh)
	for _, op := range got {
		i := slices.IndexFunc(rest, func(want casefile.Operator) bool {
			return op.Name == want.Name && (op.TotalTimeS == want.TotalTimeS || op.TotalTimeS == rounded(want.TotalTimeS)) && (op.NumCalls == want.NumCalls || op.NumCalls == 0)
		})
		if i < 0 {
			t.Fatalf("%v is none of %v", op, rest)
		}
		rest = slices.Delete(rest, i, i+1)
	}
}

func sorted(ops []casefile.Operator) bool {
	for i := range ops {
		if i > 0 && ops[i].TotalTimeS > ops[i-1].TotalTimeS {
			return false
		}
	}
	return true
}

// rounded keeps 12 significant digits.
func rounded(f float64) float64 {
	var r float64
	fmt.Sscanf(fmt.Sprintf("%.12g", f), "%g", &r)
	return r
}

// checkUntouched asserts that two texts with the same tokens differ only in
// tokens whose values differ.
func checkUntouched(t *testing.T, before, after string) {
	t.Helper()
	a, b := json.NewDecoder(strings.NewReader(before)), json.NewDecoder(strings.NewReader(after))
	endA, endB := 0, 0
	for {
		tokenA, errA := a.Token()
		tokenB, errB := b.Token()
		if errA != nil || errB != nil {
			if before[endA:] != after[endB:] {
				t.Errorf("the ends differ: %q and %q", before[endA:], after[endB:])
			}
			return
		}
		textA, textB := before[endA:a.InputOffset()], after[endB:b.InputOffset()]
		const separators = " \t\r\n,:"
		lead := func(s string) string { return s[:len(s)-len(strings.TrimLeft(s, separators))] }
		if lead(textA) != lead(textB) || tokenA == tokenB && textA != textB {
			t.Errorf("%q became %q", textA, textB)
		}
		endA, endB = int(a.InputOffset()), int(b.InputOffset())
	}
}

// TestEditAnyFormat edits random cases in random formats.
func TestEditAnyFormat(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		g := generator{rand.New(rand.NewPCG(seed, 4))}
		text := g.file()
		refresh := g.refresh()
		got, _ := checkEdit(t, "case.json", []byte(text), refresh)
		c, err := casefile.Parse("case.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "initial_time_s") && strings.Contains(text, "baseline_time_s") && (refresh.Operators == nil || len(refresh.Operators) == len(c.Operators)) {
			checkUntouched(t, text, string(got))
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s\n%+v\n%s", seed, text, refresh, got)
		}
	}
}

// generator makes random cases.
type generator struct{ *rand.Rand }

func (g generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g generator) space() string { return g.pick("", "", " ", "\n  ", "\r\n\t", "\n", "  ") }

func (g generator) number() string {
	f := g.Float64() * math.Pow(10, float64(g.IntN(12)-9))
	return fmt.Sprintf(g.pick("%.3f", "%.17g", "%.5e", "%.2f", "%.12g"), f)
}

// object writes an object of keys and values in a style of its own.
func (g generator) object(open string, members [][2]string, end string) string {
	comma, colon := g.space()+","+g.space(), g.space()+":"+g.space()
	var parts []string
	for _, m := range members {
		if g.IntN(20) == 0 {
			comma = g.space() + "," + g.space()
		}
		key := ""
		if open == "{" {
			key = m[0] + colon
		}
		parts = append(parts, key+m[1])
	}
	return open + g.space() + strings.Join(parts, comma) + g.space() + end
}

func (g generator) file() string {
	members := [][2]string{{`"name"`, `"case"`}, {`"description"`, g.pick(`""`, `"d é ü"`, `"\u00e9\n, : {"`)}}
	for _, m := range [][2]string{{`"initial_time_s"`, g.number()}, {`"baseline_time_s"`, g.number()}, {`"type"`, `"text"`}, {`"initial_tolerance"`, "0.10"},
		{`"user_input"`, `{"tp_size": 4, "mtp_acceptance_rate": [ 0.90 ]}`}, {`"compilation_config"`, `[]`}, {`"operators"`, g.operators()}} {
		if g.IntN(4) > 0 {
			members = append(members, m)
		}
	}
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return g.pick("", " ", "\r\n") + g.object("{", members, "}") + g.pick("", "\n", "\r\n", " ")
}

func (g generator) operators() string {
	if g.IntN(10) == 0 {
		return g.pick("null", "[ ]", "[]")
	}
	var items [][2]string
	for i := range g.IntN(6) {
		op := [][2]string{{`"name"`, g.pick(fmt.Sprintf(`"op%d"`, i), fmt.Sprintf(`"\u006fp%d"`, i))}, {`"total_time_s"`, g.number()}}
		if g.IntN(3) > 0 {
			op = append(op, [2]string{`"num_calls"`, fmt.Sprint(g.IntN(5))})
		}
		g.Shuffle(len(op), func(i, j int) { op[i], op[j] = op[j], op[i] })
		items = append(items, [2]string{"", g.object("{", op, "}")})
	}
	return g.object("[", items, "]")
}

func (g generator) refresh() casefile.Refresh {
	var r casefile.Refresh
	if g.IntN(2) == 0 {
		r.InitialTimeS = new(g.Float64())
	}
	if g.IntN(2) == 0 {
		r.BaselineTimeS = new(math.Pow(10, g.Float64()*40-20))
	}
	if g.IntN(4) > 0 {
		r.Operators = []casefile.Operator{}
		for i := range g.IntN(8) {
			total := g.Float64()
			if g.IntN(4) == 0 {
				total = 0.25 + float64(g.IntN(2))*1e-14
			}
			r.Operators = append(r.Operators, casefile.Operator{Name: fmt.Sprintf("op%d", i), TotalTimeS: total, NumCalls: int64(g.IntN(5))})
		}
		g.Shuffle(len(r.Operators), func(i, j int) { r.Operators[i], r.Operators[j] = r.Operators[j], r.Operators[i] })
	}
	return r
}

func FuzzEdit(f *testing.F) {
	inputs, _ := filepath.Glob("testdata/edit/*.txtar")
	for _, input := range inputs {
		archive, err := txtar.ParseFile(input)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data, 0.5, 0.25, 1e-5, int64(3), "op", 3)
	}
	for _, group := range []string{
		"{\"type\": \"group\", \"name\": \"case\",\n  \"sub_cases\": {\n    \"b\": {\"description\": \"d\"},\n    \"a\": {\n      \"description\": \"d\"\n    }\n  }\n}",
		`{"sub_cases":{"a":{"operators":[{"name":"b","total_time_s":1}],"description":"d"}},"name":"case","type":"group"}`,
	} {
		f.Add([]byte(group), 0.5, 0.25, 1e-5, int64(3), "op", 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, initial, baseline, total float64, calls int64, name string, n int) {
		refresh := casefile.Refresh{InitialTimeS: &initial}
		if n%3 == 0 {
			refresh.BaselineTimeS = &baseline
		}
		if n%2 == 1 {
			refresh.Operators = []casefile.Operator{{Name: name, TotalTimeS: total, NumCalls: calls}, {Name: "a", TotalTimeS: baseline, NumCalls: 1}, {Name: "b", TotalTimeS: initial}}[:n%4]
		}
		if _, _, err := casefile.Edit("case.json", "", data, refresh); err == nil {
			checkEdit(t, "case.json", data, refresh)
		}
		if got, _, err := casefile.Edit("case.json", "a", data, refresh); err == nil {
			if _, changes, err := casefile.Edit("case.json", "a", got, refresh); err != nil || len(changes) > 0 {
				t.Errorf("the same refresh again: %v, %v", changes, err)
			}
		}
	})
}
