package matrix_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/matrix"
)

// facets have variables and tags.
func facets() []matrix.Axis {
	return []matrix.Axis{
		{Key: "model", Values: []matrix.Value{
			{ID: "gemma-4", Vars: map[string]string{"family": "gemma4", "billions": "12"}, Tags: []string{"smoke"}},
			{ID: "qwen3.5", Vars: map[string]string{"family": "qwen35"}},
		}},
		{Key: "backend", Values: values("mlx", "ggml_cuda")},
		{Key: "feature", Values: []matrix.Value{{ID: "long_text", Vars: map[string]string{"kind": "text"}, Tags: []string{"slow"}}}},
	}
}

// holding expands the axes with a When.
func holding(t testing.TB, p *matrix.Predicate) string {
	t.Helper()
	var ids []string
	for _, p := range expand(t, matrix.Spec{Axes: facets(), When: p}) {
		ids = append(ids, p.Cell.Get("model")+"/"+p.Cell.Get("backend"))
	}
	return strings.Join(ids, " ")
}

func TestPredicate(t *testing.T) {
	const all = "gemma-4/mlx gemma-4/ggml_cuda qwen3.5/mlx qwen3.5/ggml_cuda"
	for text, want := range map[string]string{
		`backend == "mlx"`:                          "gemma-4/mlx qwen3.5/mlx",
		`backend startsWith "ggml"`:                 "gemma-4/ggml_cuda qwen3.5/ggml_cuda",
		`feature in ["long_text", "uploaded_text"]`: all,
		`feature not in ["long_text"]`:              "",
		`model.family startsWith "qwen35"`:          "qwen3.5/mlx qwen3.5/ggml_cuda",
		`model["family"] == "gemma4"`:               "gemma-4/mlx gemma-4/ggml_cuda",
		`model.billions == ""`:                      "qwen3.5/mlx qwen3.5/ggml_cuda",
		`model.billions != "" and int(model.billions) > 7 && feature.kind == "text"`: "gemma-4/mlx gemma-4/ggml_cuda",
		`model matches "^qwen[0-9.]+$" || backend contains "cuda"`:                   "gemma-4/ggml_cuda qwen3.5/mlx qwen3.5/ggml_cuda",
		`"smoke" in tags and !("nightly" in tags)`:                                   "gemma-4/mlx gemma-4/ggml_cuda",
		`len(tags) == 2 and tags[0] == "slow" and tags[1] == "smoke"`:                "gemma-4/mlx gemma-4/ggml_cuda",
		`host.os == "linux" and host.arch == "amd64" and host.label != ""`:           all,
		`"nvidia" in host.vendors and "amd" not in host.vendors`:                     all,
		"true // a comment": all,
		"backend\n== \"mlx\"\nand upper(model) == \"GEMMA-4\"": "gemma-4/mlx",
	} {
		if got := holding(t, compile(t, text, facets())); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestPredicateErrors(t *testing.T) {
	for text, want := range map[string]string{
		`modle == "x"`:                      `line 1, column 1: unknown name "modle": did you mean "model"?; a value stands in quotes`,
		`backend == mlx`:                    `line 1, column 12: unknown name "mlx": use one of tags, host, model, backend, feature; a value stands in quotes`,
		"true and\n  model.famly == \"x\"":  `line 2, column 9: no value of model has the variable "famly": did you mean "family"?`,
		`backend.kind == "x"`:               `line 1, column 9: no value of backend has the variable "kind": add vars to a value of backend`,
		`host == "x"`:                       `line 1, column 1: unknown name host: write host.os`,
		`host.oss == "x"`:                   `line 1, column 6: host has no "oss": did you mean "os"?`,
		`host.vendor == "x"`:                `did you mean "vendors"?`,
		`model`:                             `line 1, column 1: expected bool, but got string: compare strings`,
		`[true, 1][0]`:                      `expected bool, but got`,
		`model == 3`:                        `line 1, column 7: invalid operation: == (mismatched types string and int): compare strings`,
		`tags == "smoke"`:                   `line 1, column 6: invalid operation`,
		`model.family.name == "x"`:          `line 1, column 14: type string has no field name`,
		`backend = "mlx"`:                   `line 1, column 9: "=" cannot be used in a predicate: compare with ==`,
		`true | false`:                      `line 1, column 6: "|" cannot be used in a predicate: write and, or`,
		`let x = model; x == "a"`:           `line 1, column 1: "let" cannot be used`,
		`1 in 1..1000000000`:                `line 1, column 7: ".." cannot be used`,
		`any(tags, # == "a")`:               `"#" cannot be used`,
		`all(tags, true)`:                   `line 1, column 1: "all" is not a function of predicates: use one of len`,
		`repeat(model, 1000000) == ""`:      `line 1, column 1: "repeat" is not a function`,
		`lowr(model) == ""`:                 `"lowr" is not a function of predicates: did you mean "lower"?`,
		`model.startsWith("q")`:             `line 1, column 7: "startsWith" is not a function of predicates: write model startsWith "gemma"`,
		`tags.join("q") == ""`:              `line 1, column 6: "join" is not a function of predicates: use one of len`,
		`tags[0](1)`:                        `unexpected token`,
		`model.family("q")`:                 `"family" is not a function of predicates`,
		`$env["model"] == "x"`:              `line 1, column 1: unknown name "$env"`,
		`1 < 2 < 3`:                         `line 1, column 7: "<" follows another comparison: write "and"`,
		`model == "x" ? true : false`:       `line 1, column 14: "?" cannot be used`,
		`model matches "("`:                 `line 1, column 7: error parsing regexp`,
		`model matches backend`:             `the pattern is not constant: write the pattern in quotes`,
		`model matches "(a{1000}){1000}"`:   `counted repetition`,
		`model == "x`:                       `line 1, column 12: literal not terminated: write a condition`,
		`model ==`:                          `line 1, column 8: unexpected token EOF: write a condition`,
		``:                                  `line 1, column 1: unexpected token EOF: write a condition`,
		`lower(3) == ""`:                    `line 1, column`,
		`1 % 0 == 1 and len("a", "b") == 1`: `line 1, column`,
		"model == \"\xff\"":                 `not UTF-8: save`,
		strings.Repeat("(", 500) + "true" + strings.Repeat("?:true)", 500): `"?" cannot be used`,             // time doubles with each level
		strings.Repeat("(1<", 500) + "2" + strings.Repeat("<3)", 500):      `"<" follows another comparison`, // here as well
		strings.Repeat(" ", 5000):          `5000 bytes, more than 4096`,
		strings.Repeat("!", 1200) + "true": `exceeds maximum allowed nodes: shorten`,
		"(((\"é\" == ä)))":                 `line 1, column 11: unknown name "ä": use one of`,
	} {
		_, err := matrix.Compile(text, matrix.Facts{}, facets())
		var positioned *matrix.PredicateError
		if !errors.As(err, &positioned) || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%.60q) = %v, want %s", text, err, want)
		}
	}
}

// TestPredicateFailsAtEvaluation checks that a failure names the place and the
// combination and never panics.
func TestPredicateFailsAtEvaluation(t *testing.T) {
	for text, want := range map[string]string{
		`int(model.billions) > 3`:          `when: at qwen3.5__mlx__long_text: line 1, column 1: `,
		`tags[7] == "x"`:                   `when: at gemma-4__mlx__long_text: line 1, column 5: `,
		`1 % (len(host.vendors) - 1) == 0`: `when: at gemma-4__mlx__long_text: line 1, column 3: `,
	} {
		_, err := matrix.Spec{Axes: facets(), When: compile(t, text, facets())}.Expand()
		var positioned *matrix.PredicateError
		if !errors.As(err, &positioned) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %s", text, err, want)
		}
	}
}

// TestPredicateOutlivesValues uses a predicate with a variable that no
// selected value has any more.
func TestPredicateOutlivesValues(t *testing.T) {
	p := compile(t, `model.billions == "" and backend == "mlx"`, facets())
	s := matrix.Spec{Axes: facets(), When: p}
	s.Axes[0].Values = s.Axes[0].Values[1:]
	if points := expand(t, s); len(points) != 1 {
		t.Errorf("%d points, want 1", len(points))
	}
}

// FuzzCompile runs what compiles: neither step may panic, and an error must
// have a place within the text and a next step.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`backend == "mlx" and model.family startsWith "qwen35"`, `feature not in ["a", 'b', ` + "`c`]", `"x" in tags`, `host.os matches "^l"`,
		`int(model.billions) % 2 == 1`, `not (len(tags) > 3)`, `tags[0][1:2] == "a"`, `$env`, `?.`, `model?.family ?? "a"`, `{a: 1}.a`,
		"/* */ true", `b"x" == b'y'`, `1 < 2 < 3`, `((true ?: true) ?: true)`, `model | upper()`, `::len(model) == 1`, `if true { true } else { false }`,
		"\"\\u{10FFFF}\" == model", "true;true", `-1 ** 2 == 1`, `[1,2][0] == 1`, `date("x") == now()`, "modél.famïly",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := matrix.Compile(text, matrix.Facts{OS: "linux"}, facets())
		var positioned *matrix.PredicateError
		switch {
		case err == nil:
			_, err := matrix.Spec{Axes: facets(), When: p}.Expand()
			if err != nil && !errors.As(err, &positioned) {
				t.Errorf("evaluating %q: %v has no place", text, err)
			}
		case !errors.As(err, &positioned):
			t.Errorf("compiling %q: %v has no place", text, err)
		}
		if positioned == nil {
			return
		}
		lines := strings.Split(text, "\n")
		if positioned.Hint == "" || positioned.Line > len(lines) || positioned.Column > utf8.RuneCountInString(lines[positioned.Line-1])+1 {
			t.Errorf("%q: %+v", text, *positioned)
		}
	})
}
