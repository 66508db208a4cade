package inferencebench

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// evidence writes what the numbers rest on: how requests ended, the samples
// file with its digest, and why the numbers are not to be trusted.
func (w *writer) evidence() error {
	result := &w.run.Results[0]
	if result.Caveat != "" {
		w.body.set("x_caveat", textValue(text.Cut(result.Caveat, maxText/2)))
	}
	if len(result.Counts) > 0 {
		counts, err := encode(result.Counts)
		if err != nil {
			return err
		}
		w.body.set("x_outcomes", counts)
	}
	w.energy()
	if source := w.run.Context["token_source"]; source != "" {
		w.body.set("x_token_source", textValue(source))
	}
	w.clientHealth(result)
	if len(result.Files) == 0 {
		return nil
	}
	files := value{kind: object}
	for i, f := range result.Files {
		files.add(pointerName(i), textValue(f.Name+"#sha256="+f.SHA256))
	}
	w.body.set("distributions", files)
	return nil
}

// evidenceKey names conditions that were found and not asked for: they are no
// options of a driver, and x_context keeps them.
var evidenceKey = map[string]bool{
	"energy_scope":        true,
	"energy_method":       true,
	"energy_not_measured": true,
	"token_source":        true,
	bench.StreamedTokens:  true,
}

// energy writes what was measured and how, or why nothing was.
func (w *writer) energy() {
	c := w.run.Context
	energy := value{kind: object}
	switch {
	case c["energy_method"] != "":
		scope := value{kind: array}
		for name := range strings.FieldsSeq(c["energy_scope"]) {
			scope.items = append(scope.items, textValue(name))
		}
		energy.add("scope", scope)
		energy.add("method", textValue(c["energy_method"]))
	case c["energy_not_measured"] != "":
		energy.add("not_measured", textValue(c["energy_not_measured"]))
	default:
		return
	}
	w.body.set("x_energy", energy)
}

// clientHealth repeats what the metrics say of the load generator where readers
// look for it.
func (w *writer) clientHealth(result *bench.Result) {
	health := value{kind: object}
	for _, h := range []struct{ name, metric string }{{"schedule_delay_p99_ms", "schedule_delay_p99_ms"}, {"cpu_share", "client_cpu_share"},
		{"gc_pause_max_ms", "client_gc_pause_max_ms"}, {"retries_conn", "retries_conn"}} {
		if s := result.Sample(h.metric); s != nil && len(s.Values) > 0 {
			health.add(h.name, floatValue(s.Median()))
		}
	}
	if len(health.keys) > 0 {
		w.body.set("x_client_health", health)
	}
}

// pointerName is "samples", as the original calls its file, and "samples-2" for
// the file of the second round.
func pointerName(i int) string {
	if i == 0 {
		return "samples"
	}
	return "samples-" + strconv.Itoa(i+1)
}

var pointer = lazyregexp.New(`^([^/\\]+)#sha256=([0-9a-f]{64})$`)

// files returns the files that distributions name with their digests; the
// original's pointers have none.
func (e *Envelope) files() (files []bench.File) {
	list, _ := e.body.get("distributions")
	for i := range list.items {
		if found := pointer.FindStringSubmatch(list.items[i].plain()); found != nil && len(files) < maxNotes {
			files = append(files, bench.File{Name: found[1], SHA256: found[2]})
		}
	}
	return files
}

func (e *Envelope) counts() map[string]int {
	var counts map[string]int
	list, ok := e.body.get("x_outcomes")
	if !ok || list.decode(&counts) != nil || len(counts) > maxNotes {
		return nil
	}
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n < 0 })
	return counts
}

// addEstimate adds to the i-th run what its value of the sample rests on.
func addEstimate(run *value, s *bench.Sample, i int) error {
	if len(s.Estimates) == 0 {
		return nil
	}
	said, err := encode(s.Estimates[i])
	if err != nil {
		return err
	}
	at := slices.Index(run.keys, "estimates")
	if at < 0 {
		at = len(run.keys)
		run.add("estimates", value{kind: object})
	}
	run.items[at].add(s.Metric, said)
	return nil
}

// estimates returns what each of n values of a metric rests on; nil unless
// every one of x_runs says it.
func (e *Envelope) estimates(metric string, n int) []bench.Estimate {
	runs, _ := e.body.get("x_runs")
	if n == 0 || len(runs.items) < n {
		return nil
	}
	list := make([]bench.Estimate, 0, n)
	for _, one := range runs.items[:n] {
		all, _ := one.get("estimates")
		i := slices.Index(all.keys, metric)
		var said bench.Estimate
		if i < 0 || all.items[i].decode(&said) != nil || !sound(said) {
			return nil
		}
		list = append(list, said)
	}
	return list
}

func sound(e bench.Estimate) bool {
	return e.N >= 0 && bench.Finite(e.Low) && bench.Finite(e.High) && e.Low <= e.High
}
