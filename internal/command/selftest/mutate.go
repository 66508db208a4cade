package selftest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

const (
	// mutationCount is how many damaged copies selftest judges.
	mutationCount = 100
	// mutationSeed makes every selftest of one run judge the same copies.
	mutationSeed = 17
	// maxMutated bounds the cells of a copy: each is named in a report.
	maxMutated = 8
	// unwrapped is a width at which what names a cell and its metric stands in one line.
	unwrapped = 10_000
)

// mutation damages a copy of the documents in one way.
type mutation struct {
	kind string
	// apply changes the copy and returns what must stand in one line of the report
	// if the gate stays green, or [mutant.none] where there is nothing to damage.
	apply func(*mutant) []string
}

// mutant is a copy of the inputs of a verdict, as decoded JSON and as text.
type mutant struct {
	*rand.Rand
	run, ref map[string]any
	config   string
	edits    []func(*config.File) // of the parsed configuration
	policy   gate.Policy          // before the damage
	flagged  bool                 // the command line sets the threshold
	number                        // that is judged
	texts    []string
	why      string // there is nothing to damage
}

// mutate judges damaged copies of configuration, run and baseline. Each must be
// refused, fail the gate, or be named in a line of the report.
func (t *experiment) mutate(o *measure.Options) {
	few := t.few()
	if few == nil {
		t.unjudge("mutations: no number is compared with a baseline")
		return
	}
	before, err := few.report(few.run, few.ref)
	if err != nil {
		t.fail("mutations: %v", err)
		return
	}
	red, named, rng := 0, 0, rand.New(rand.NewPCG(mutationSeed, 0))
	green := map[string]number{}     // kinds, with what was damaged
	without := map[string][]string{} // kinds by why they do not apply
	for done, i := 0, 0; done < mutationCount && i < 2*mutationCount; i++ {
		kind := mutations[i%len(mutations)]
		m, names, err := few.mutant(rng, o, kind)
		if err != nil {
			t.fail("mutations: %v", err)
			return
		}
		if names == nil {
			if i < len(mutations) {
				without[m.why] = append(without[m.why], kind.kind)
			}
			continue
		}
		done++
		switch lines, passed := few.survives(m, o); {
		case !passed:
			red++
		case slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(before, line) && holdsAll(line, names) }):
			named++
		default:
			green[kind.kind] = m.number
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(green)) {
		of := green[kind]
		t.fail("mutation %q (%s %s) leaves the gate green without a line that names it: %s", kind,
			text.OneLine(of.cell), text.OneLine(of.metric), t.allows("report this as a bug"))
	}
	if len(green) == 0 {
		t.prove("%s of configuration, run and baseline: %d fail or are refused, %d pass and are named", text.Plural(red+named, "mutation"), red, named)
	}
	for _, why := range slices.Sorted(maps.Keys(without)) {
		t.unapplied = append(t.unapplied, fmt.Sprintf("%s: %s", why, strings.Join(without[why], "; ")))
	}
}

func holdsAll(line string, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !strings.Contains(line, name) })
}

// few is the experiment with some of the cells that have a judged number; nil without any.
func (t *experiment) few() *experiment {
	some := *t
	some.numbers = nil
	kept := map[string]bool{}
	for _, n := range t.numbers {
		if kept[n.cell] || len(kept) < maxMutated {
			kept[n.cell] = true
			some.numbers = append(some.numbers, n)
		}
	}
	run := *t.run
	run.LeftOut, run.Unselected = nil, nil
	run.Results = slices.DeleteFunc(slices.Clone(run.Results), func(r bench.Result) bool { return !kept[r.Cell.ID()] })
	for id := range t.run.ByID() {
		if !kept[id] {
			run.Unselected = append(run.Unselected, id)
		}
	}
	slices.Sort(run.Unselected)
	file, _, err := baseline.Update(nil, &run, baseline.UpdateOptions{Reason: "selftest", Now: t.Now(), All: true})
	if err != nil || len(kept) == 0 {
		return nil
	}
	some.run, some.ref = &run, judge.Reference{Path: t.ref.Path, File: file}
	return &some
}

// report is what is printed of a run that passes, line by line.
func (t *experiment) report(run *bench.Run, ref judge.Reference) ([]string, error) {
	j, _ := t.judged(run, ref)
	if code := j.Exit(); code != exit.Passed {
		return nil, fmt.Errorf("exit %d", code)
	}
	printed, err := judge.Rendered(report.TerminalWith(report.TerminalOptions{Columns: unwrapped}), j.Report)
	return strings.Split(printed, "\n"), err
}

// mutant damages a copy in one number that the mutation applies to; names is nil, and why
// is set, if there is none.
func (t *experiment) mutant(rng *rand.Rand, o *measure.Options, kind mutation) (m *mutant, names []string, err error) {
	first := rng.IntN(len(t.numbers))
	for i := range t.numbers {
		if m, err = t.copied(rng, o, t.numbers[(first+i)%len(t.numbers)]); err != nil {
			return nil, nil, err
		}
		run, ref, config := string(m.text(m.run)), string(m.text(m.ref)), m.config
		names = kind.apply(m)
		if names != nil && len(m.edits) == 0 && m.config == config && string(m.text(m.run)) == run && string(m.text(m.ref)) == ref {
			names = m.none("change nothing in this configuration")
		}
		if names != nil {
			break
		}
	}
	return m, names, nil
}

// copied is a copy of the documents, of which one number is to be damaged.
func (t *experiment) copied(rng *rand.Rand, o *measure.Options, of number) (*mutant, error) {
	m := &mutant{Rand: rng, policy: t.policy, flagged: o.Threshold != "", number: of}
	run, err := json.Marshal(t.run)
	if err != nil {
		return nil, err
	}
	ref, err := baseline.Marshal(t.ref.File)
	if err != nil {
		return nil, err
	}
	if m.run, err = tree(run); err != nil {
		return nil, err
	}
	if m.ref, err = tree(ref); err != nil {
		return nil, err
	}
	if !strings.EqualFold(filepath.Ext(o.Config), ".json") { // those are translated, or made by programs
		data, err := os.ReadFile(o.Config)
		if err != nil {
			return nil, err
		}
		m.config = string(data)
	}
	return m, nil
}

// none returns why a mutation does not apply: a predicate of which its kind is the subject.
func (m *mutant) none(why string) []string {
	m.why = why
	return nil
}

func tree(data []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var m map[string]any
	err := d.Decode(&m)
	return m, err
}

// survives judges a mutant by the way that every run takes, and returns the
// report if it passes.
func (t *experiment) survives(m *mutant, o *measure.Options) (lines []string, passed bool) {
	run, err := bench.DecodeRun(m.text(m.run))
	if err != nil {
		return nil, false
	}
	file, err := baseline.Parse("baseline", m.text(m.ref))
	if err != nil {
		return nil, false
	}
	ref, err := judge.OfHost(t.ref.Path, file, run.Host.Label)
	if err != nil {
		return nil, false
	}
	judge := *t
	if m.config != "" {
		parsed, err := config.Parse(o.Config, []byte(m.config))
		if err != nil {
			return nil, false
		}
		for _, edit := range m.edits {
			edit(parsed)
		}
		policy, err := t.Env.Policy(o, parsed)
		if err != nil {
			return nil, false
		}
		judge.policy = asMeasured(policy, t.run)
	}
	lines, err = judge.report(run, ref)
	return lines, err == nil
}

// text encodes a document, with the replacements that JSON itself cannot hold.
func (m *mutant) text(document map[string]any) []byte {
	data, err := json.Marshal(document)
	if err != nil {
		return nil // which no reader takes
	}
	return []byte(strings.NewReplacer(m.texts...).Replace(string(data)))
}

// mark returns a string to put into a document, which becomes the text.
func (m *mutant) mark(text string) string {
	mark := fmt.Sprintf("mutation %d", len(m.texts))
	m.texts = append(m.texts, `"`+mark+`"`, text)
	return mark
}
