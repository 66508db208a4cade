package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

func (r *Report) warnings(maximum int) (block, int) {
	t := &table{columns: columns("Host", "Warning~")}
	for i := range r.hosts {
		h := &r.hosts[i]
		label := only(code(h.Run.Host.Label))
		t.warn(label, warningsOf(h.Run), maximum)
		if h.Reference != nil {
			t.warn(append(label, plain(" (baseline)")), h.Reference.Warnings, maximum)
		}
	}
	return t, t.total
}

// warningsOf returns what is doubtful about the run and about its cells.
func warningsOf(run *bench.Run) []string {
	list := slices.Clip(run.Warnings)
	for i := range run.Results {
		r := &run.Results[i]
		if r.Caveat != "" {
			list = append(list, r.Cell.ID()+": doubtful, so its numbers judge nothing: "+r.Caveat)
		}
		for _, w := range r.Warnings {
			list = append(list, r.Cell.ID()+": "+w)
		}
	}
	return list
}

// warn counts all warnings and shows them while there are fewer than maximum rows.
func (t *table) warn(host inline, warnings []string, maximum int) {
	t.total += len(warnings)
	for _, w := range warnings[:min(len(warnings), maximum-len(t.rows))] {
		t.rows = append(t.rows, []inline{host, only(reason(w))})
	}
}

// facts lists where the numbers come from, host by host.
func (r *Report) facts() []block {
	var blocks []block
	for i := range r.hosts[:min(maxHosts, len(r.hosts))] {
		h := &r.hosts[i]
		t := &table{columns: columns("Fact", "This run~", "Baseline~")}
		old := make(facts, len(factsOf(h.Run)))
		if h.Reference != nil {
			old = factsOf(h.Reference)
		}
		for k, fact := range factsOf(h.Run) {
			t.rows = append(t.rows, []inline{only(plain(fact.name)), only(code(fact.value)), only(code(old[k].value))})
		}
		if r.in.Config != "" {
			t.rows = append(t.rows, []inline{only(plain("configuration")), only(code(r.in.Config)), none})
		}
		if loosened := r.in.Policy.Loosened(); len(loosened) > 0 {
			t.rows = append(t.rows, []inline{only(plain("policy")), only(code(strings.Join(loosened, ", "))), none})
		}
		if s := h.Source; s != nil {
			t.rows = append(
				t.rows,
				[]inline{only(plain("file")), none, only(code(h.Path))},
				[]inline{
					only(plain("file of commit")),
					none,
					only(code(commit(s.Commit))),
				},
				[]inline{only(plain("file's SHA-256")), none, only(code(s.Digest[:min(16, len(s.Digest))]))},
			)
		}
		t.rows = append(t.rows, context(h.Run)...)
		t.total = len(t.rows)
		blocks = append(blocks, paragraph{code(h.Run.Host.Label)}, t)
	}
	return blocks
}

type fact struct{ name, value string }

type facts []fact

// factsOf gives every run the same facts in the same order.
func factsOf(run *bench.Run) facts {
	started := ""
	if !run.Started.IsZero() {
		started = run.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return append(facts{{"tool", run.Tool}, {"revision", commit(run.Revision)}, {"started", started}},
		machine(run.Host.Fingerprint)...)
}

// machine gives every fingerprint the same facts in the same order.
func machine(f bench.Fingerprint) facts {
	models := make([]string, 0, len(f.Accelerators))
	for _, a := range f.Accelerators {
		models = append(models, a.Model)
	}
	known := func(value string, is bool) string {
		if is {
			return value
		}
		return ""
	}
	return facts{
		{"system", strings.Trim(f.OS+"/"+f.Arch, "/")},
		{"CPU", f.CPU},
		{"cores", known(fmt.Sprint(f.Cores), f.Cores > 0)},
		{"memory", known(number(f.MemoryGiB)+" GiB", f.MemoryGiB > 0)},
		{"accelerators", strings.Join(models, " + ")},
		{"driver", f.Driver},
	}
}

// context is what the measuring side adds in free words.
func context(run *bench.Run) [][]inline {
	const maximum = 20
	keys := slices.Sorted(maps.Keys(run.Context))
	var rows [][]inline
	for _, k := range keys[:min(maximum, len(keys))] {
		rows = append(rows, []inline{only(code(k)), only(code(run.Context[k])), none})
	}
	return rows
}
