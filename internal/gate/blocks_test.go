package gate_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/gate"
)

// tableOf returns the rows of the table below a heading of docs/verdicts.md, without marks of code.
func tableOf(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/verdicts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") {
			var row []string
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
				row = append(row, strings.ReplaceAll(strings.TrimSpace(cell), "`", ""))
			}
			rows = append(rows, row)
		}
	}
	if len(rows) < 3 {
		t.Fatalf("docs/verdicts.md has no table %q", heading)
	}
	return rows[2:]
}

// holds reports whether a cell of a table has a value: "any", or a list.
func holds(cell, value string) bool {
	return cell == "any" || slices.Contains(strings.Split(cell, ", "), value)
}

// TestBlocksIsTheTableOfTheDocs walks through every combination of finding, decider, excuse and
// policy: exactly one row of the table has it, and says what [gate.Policy.Blocks] does. No row
// is without a combination.
func TestBlocksIsTheTableOfTheDocs(t *testing.T) {
	t.Parallel()
	rows := tableOf(t, "What blocks")
	used := make([]int, len(rows))
	group := map[string]string{}
	for _, row := range tableOf(t, "Findings") {
		group[row[0]] = row[1]
	}
	for _, found := range gate.Findings {
		for _, by := range append([]gate.Decider{gate.Certain}, gate.Deciders...) {
			for _, excuse := range append([]gate.ExcuseKind{gate.NotExcused}, gate.ExcuseKinds...) {
				for _, inconclusive := range []string{"warn", gate.InconclusiveFail} {
					for _, leftOut := range []string{gate.LeftOutWarn, "fail"} {
						p := gate.Policy{Inconclusive: inconclusive, LeftOut: leftOut}
						what := fmt.Sprint(found, " ", by.Certainty(), " by ", by, ", excuse ", excuse, ", inconclusive ", inconclusive, ", left_out ", leftOut)
						counts := excuse != gate.NotExcused && (excuse != gate.LeftOut || leftOut == gate.LeftOutWarn)
						excused := map[bool]string{false: "none", true: string(excuse)}[counts]
						at := -1
						for i, r := range rows {
							if !holds(r[0], group[string(found)]) || !holds(r[1], by.Certainty()) || !holds(r[2], excused) || !holds(r[3], inconclusive) {
								continue
							}
							if at >= 0 {
								t.Errorf("%s: rows %d and %d", what, at+1, i+1)
							}
							at = i
						}
						if at < 0 {
							t.Errorf("%s: no row", what)
							continue
						}
						used[at]++
						if got := p.Blocks(found, by, excuse); got != (rows[at][4] == "yes") {
							t.Errorf("%s: Blocks() = %t, row %d says %s", what, got, at+1, rows[at][4])
						}
					}
				}
			}
		}
	}
	if i := slices.Index(used, 0); i >= 0 {
		t.Errorf("no combination is in row %d", i+1)
	}
}

// TestWordsOfTheDocs: the tables of findings, deciders and excuses list those of the code in
// their order, the worst first.
func TestWordsOfTheDocs(t *testing.T) {
	t.Parallel()
	check := func(heading string, want []string) {
		t.Helper()
		var got []string
		for _, row := range tableOf(t, heading) {
			got = append(got, row[0])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the table has %q, want %q", heading, got, want)
		}
	}
	check("Findings", words(gate.Findings))
	check("Certainty", words(gate.Deciders))
	check("Excuses", words(gate.ExcuseKinds))
}

func words[T ~string](values []T) (list []string) {
	for _, v := range values {
		list = append(list, string(v))
	}
	return list
}

// TestOutcomesAreTheTableOfTheDocs holds first word, conclusion and exit codes of each status,
// and that no status passes a required check while a loss is undecided.
func TestOutcomesAreTheTableOfTheDocs(t *testing.T) {
	t.Parallel()
	rows := tableOf(t, "First word, conclusion and exit code")
	if len(rows) != len(gate.Statuses) || len(gate.Outcomes) != len(gate.Statuses) {
		t.Fatalf("%d rows and %d outcomes of %d statuses", len(rows), len(gate.Outcomes), len(gate.Statuses))
	}
	for i, s := range gate.Statuses {
		o := gate.Outcomes[s]
		got := fmt.Sprintf("%s | %s | %s | %d | %d", s, o.Word, o.Conclusion, o.Code, o.Strict)
		r := rows[i]
		if want := strings.Join([]string{r[0], r[2], r[3], r[4], r[5]}, " | "); got != want {
			t.Errorf("%s, the table has %s", got, want)
		}
		for _, strict := range []bool{false, true} {
			d := gate.Decision{Status: s, Strict: strict}
			if want := map[bool]int{false: o.Code, true: o.Strict}[strict]; d.Code() != want {
				t.Errorf("%s, strict %t: exit code %d, want %d", s, strict, d.Code(), want)
			}
		}
	}
}

// TestEveryUndecidedLossKeepsACheckOpen walks through findings, deciders and excuses: a run with
// one loss that is neither certain nor excused is undecided, and everything that is undecided or
// excused is no plain pass.
func TestEveryUndecidedLossKeepsACheckOpen(t *testing.T) {
	t.Parallel()
	losses := []gate.Finding{gate.Regressed, gate.OverBudget, gate.OutOfBounds}
	for _, found := range gate.Findings {
		for _, by := range append([]gate.Decider{gate.Certain}, gate.Deciders...) {
			for _, excuse := range append([]gate.ExcuseKind{gate.NotExcused}, gate.ExcuseKinds...) {
				p := gate.Policy{LeftOut: gate.LeftOutWarn}
				v := gate.Verdict{Cell: "c", Metric: "m", Finding: found, DecidedBy: by, Blocks: p.Blocks(found, by, excuse)}
				if excuse != gate.NotExcused {
					v.Excuse = &gate.Excuse{Kind: excuse}
				}
				want := gate.StatusPassed
				switch {
				case v.Blocks:
					want = gate.StatusFailed
				case by != gate.Certain && excuse == gate.NotExcused && slices.Contains(losses, found):
					want = gate.StatusUndecided
				case by != gate.Certain || excuse != gate.NotExcused:
					want = gate.StatusWarned
				}
				d := gate.Decide([]gate.Comparison{{Measured: 1, Passed: 1, Verdicts: []gate.Verdict{v}}}, p)
				if d.Status != want {
					t.Errorf("%s by %q, excuse %q: %s, want %s", found, by, excuse, d.Status, want)
				}
			}
		}
	}
}
