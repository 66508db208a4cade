package calibrate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// resolutions are what can be found, metric by metric, in the order of the run.
type resolutions struct {
	Host  string       `json:"host"`
	Cells []resolution `json:"cells"`
}

// resolution is what can be found in one gated metric of one cell. Percentages
// are changes for the worse in the metric's own terms.
type resolution struct {
	Cell   string  `json:"cell"`
	Metric string  `json:"metric,omitempty"` // "" where the cell as a whole could not be measured
	Unit   string  `json:"unit,omitempty"`
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Noise  float64 `json:"noise"` // percent, standard deviation of one process
	MDE    float64 `json:"mde"`   // percent, of one run against earlier ones
	// PairsMDE is that of Pairs pairs of old and new code.
	PairsMDE float64 `json:"pairs_mde"`
	// PairsRange is the promise before measuring: see [detect.Resolution].
	PairsRange [2]float64 `json:"pairs_mde_range"`
	Pairs      int        `json:"pairs"`
	Limit      float64    `json:"limit"`         // percent
	By         string     `json:"by,omitempty"`  // "history" or "pairs", by which the limit is resolved; "" by neither
	Why        string     `json:"why,omitempty"` // it could not be measured
}

// resolve asks the gate which metrics it judges, and by which limit: those of the
// run compared with itself.
func resolve(run *bench.Run, policy gate.Policy) resolutions {
	policy.Method = gate.MethodThreshold
	policy.Waivers = nil
	all := resolutions{Host: run.Host.Label, Cells: []resolution{}}
	seen, results := map[[2]string]bool{}, run.ByID()
	for _, v := range gate.Compare("itself", run, run, policy).Verdicts {
		if v.Cell == "" || v.Finding == gate.Skipped || v.LeftOut() || v.Evidence.Method == gate.MethodExact ||
			seen[[2]string{v.Cell, v.Metric}] {
			continue
		}
		seen[[2]string{v.Cell, v.Metric}] = true
		all.Cells = append(all.Cells, resolveOne(run, results[v.Cell], &v, cmp.Or(policy.MinEffect, gate.DefaultMinEffect)))
	}
	return all
}

// resolveOne returns what can be found of one number of a result, which may be nil, as
// the gate looks for it: nothing below least, in percent.
func resolveOne(run *bench.Run, result *bench.Result, v *gate.Verdict, minimum float64) resolution {
	r := resolution{Cell: v.Cell, Metric: v.Metric, Limit: v.Evidence.Limit, Why: v.Reason}
	m := run.Metric(v.Metric)
	if result != nil && result.Outcome != bench.Passed {
		r.Why = result.Reason
	}
	if v.Evidence.Method != gate.MethodThreshold || result == nil || result.Sample(v.Metric) == nil {
		r.Why = cmp.Or(r.Why, "it has no number whose speed is judged")
		return r
	}
	better, step := bench.Lower, 0.0 // of a total that only case files describe
	if m != nil {
		better, step, r.Unit = m.Better, m.Resolution, m.Unit
	}
	values := result.Sample(v.Metric).Values
	r.N, r.Median, r.Why = len(values), stats.Median(values), ""
	found, ok := detect.Resolve(values, step, detect.Options{HigherIsBetter: better != bench.Lower, MinEffect: better.Slowdown(minimum)})
	if !ok {
		r.Why = fmt.Sprintf("has %s above 0, and noise takes %d: measure more rounds", text.Plural(len(values), "value"),
			detect.MinResolved)
		return r
	}
	r.Noise, r.Pairs = 100*found.Noise, found.Pairs
	loss := func(slowdown float64) float64 { return 0 - better.GainOf(slowdown) } // without minus zero
	r.MDE, r.PairsMDE = loss(found.Single), loss(found.Paired)
	r.PairsRange = [2]float64{loss(found.PairedRange[0]), loss(found.PairedRange[1])}
	switch {
	case r.MDE <= r.Limit:
		r.By = "history"
	case r.PairsMDE <= r.Limit:
		r.By = "pairs"
	}
	return r
}

// resolved counts what could be measured.
func (all *resolutions) resolved() (n int) {
	for i := range all.Cells {
		if all.Cells[i].Why == "" {
			n++
		}
	}
	return n
}

// why is what kept the first one from being measured.
func (all *resolutions) why() string {
	for i := range all.Cells {
		if r := &all.Cells[i]; r.Why != "" {
			return text.OneLine(r.name() + ": " + r.Why)
		}
	}
	return "no cell has a gated metric: give the suite one that is not informational"
}

func (r *resolution) name() string { return strings.TrimSpace(r.Cell + " " + r.Metric) }

// verdict returns in words whether a limit can be held.
func (r *resolution) verdict() string {
	switch r.By {
	case "history":
		return "resolves its limit"
	case "pairs":
		return fmt.Sprintf("cannot resolve its limit of %.4g %% by single runs: use --ab, more repeats, or raise the limit", r.Limit)
	}
	return fmt.Sprintf("cannot resolve its limit of %.4g %%, not even by %d pairs: quieten the host, use more pairs, or raise the limit",
		r.Limit, r.Pairs)
}

func showResolutions(env *measure.Env, all resolutions, k *Options) error {
	if k.Json {
		e := json.NewEncoder(env.Stdout)
		e.SetIndent("", " ")
		if err := e.Encode(all); err != nil {
			return err
		}
	} else if err := printResolutions(env, all); err != nil {
		return err
	}
	for i := range all.Cells {
		switch r := &all.Cells[i]; {
		case r.Why != "":
			env.WarnAll([]string{fmt.Sprintf("%s was not calibrated: %s", r.name(), r.Why)})
		case r.By != "history":
			env.WarnAll([]string{r.name() + " " + r.verdict()})
		}
	}
	return nil
}

func printResolutions(e *measure.Env, all resolutions) error {
	t := terminal.NewTable(e.Stdout, terminal.Of(e.Stdout, e.Getenv).Columns)
	fmt.Fprintf(t, "cell\tmetric\tmedian\tunit\tn\tnoise\tMDE of a run\tof pairs\tlimit\tverdict\n")
	held, counted := 0, 0
	for i := range all.Cells {
		r := &all.Cells[i]
		if r.Why != "" {
			continue
		}
		counted++
		word := map[string]string{"history": "resolves its limit", "pairs": "needs --ab", "": "cannot resolve its limit"}[r.By]
		if r.By == "history" {
			held++
		}
		fmt.Fprintf(t, "%s\t%s\t%.5g\t%s\t%d\t%.2g %%\t%.3g %%\t%.2g … %.2g %% (%d)\t%.4g %%\t%s\n", text.OneLine(r.Cell),
			text.OneLine(r.Metric), r.Median, text.OneLine(r.Unit), r.N, r.Noise, r.MDE, r.PairsRange[0], r.PairsRange[1], r.Pairs, r.Limit,
			word)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.Stdout, "%d of %s can be held to their limits by single runs\n", held, text.Plural(counted, "metric"))
	return err
}
