package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// isLMEval reports a results_*.json of lm-evaluation-harness.
func isLMEval(o object) bool {
	return o.child("results") != nil && o.has("versions") && (o.has("config") || o.has("configs") || o.has("n-shot"))
}

// lmEvalLower are metrics that are better lower, for files without
// higher_is_better, which older versions do not write.
var lmEvalLower = []string{
	"perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "ter", "brier_score", "wer", "cer", "likelihood_diff",
}

// lmEvalHigher are those that are better higher.
var lmEvalHigher = []string{
	"acc", "acc_norm", "acc_mutual_info", "exact_match", "em", "f1", "mcc", "bleu", "chrf", "rouge1", "rouge2", "rougeL", "mc1",
	"mc2", "pass@1", "pct_stereotype", "bypass",
}

// lmEval reads what lm-evaluation-harness saves with --output_path, format 0.4. Each
// task and group is a row. The metric has the name of the file without the filter
// "none": "acc_norm", "exact_match,strict-match". Standard errors are of the sample
// of questions: "acc_stderr,none" is that of "acc,none".
func lmEval(data []byte) (*sheet, error) {
	var o object
	if found, err := onlyResult(data, "lm-evaluation-harness", isLMEval, &o); err != nil || !found {
		return nil, err
	}
	s := &sheet{key: "task", context: lmEvalConditions(o)}
	results := o.child("results")
	for _, task := range slices.Sorted(maps.Keys(results)) {
		if err := s.lmEvalTask(o, task, results.child(task)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// lmEvalConditions are what a score depends on besides the model.
func lmEvalConditions(o object) map[string]string {
	conditions := map[string]string{
		"client": client("lm-eval", o.text("lm_eval_version")),
		"model":  o.first("model_name", "config.model_args"),
		"engine": o.text("config", "model"),
		"limit":  o.text("config", "limit"),
		"n_shot": commonText(o.child("n-shot")),
	}
	maps.DeleteFunc(conditions, func(_, value string) bool { return value == "" || value == "null" })
	return conditions
}

// commonText is the value that all members have, "" where they differ.
func commonText(o object) (common string) {
	first := true
	for name := range o {
		if v := o.text(name); !first && v != common {
			return ""
		} else {
			common, first = v, false
		}
	}
	return common
}

func (s *sheet) lmEvalTask(o object, task string, scores object) error {
	for _, key := range slices.Sorted(maps.Keys(scores)) {
		metric, filter, _ := strings.Cut(key, ",")
		if metric = strings.TrimSpace(metric); metric == "" || metric == "alias" || metric == "name" || metric == "sample_len" ||
			metric == "sample_count" ||
			strings.HasSuffix(metric, "_stderr") {
			continue
		}
		v, ok, err := scores.number(key)
		if err != nil {
			return fmt.Errorf("%s of task %s: %w: see in the log why it was not computed", text.Quote(key, 80), text.Quote(task, 80), err)
		}
		if !ok {
			continue
		}
		m := s.lmEvalMetric(o.child("higher_is_better", task), metric)
		if filter != "" && filter != "none" {
			m.Name += "," + text.Line(filter, 80)
		}
		if err := s.add(task, m, v); err != nil {
			return err
		}
		s.stdErr(task, m.Name, string(scores[metric+"_stderr"+strings.TrimPrefix(key, metric)]))
	}
	if row, err := s.row(task); err != nil || len(row.Values) > 0 {
		return err
	}
	s.rows = s.rows[:len(s.rows)-1] // a group without a score of its own
	delete(s.at, task)
	return nil
}

// lmEvalMetric describes a score. A fraction or a perplexity has no unit.
func (s *sheet) lmEvalMetric(higher object, metric string) bench.Metric {
	m := bench.Metric{Name: text.Line(metric, 80), Better: bench.Higher, Kind: bench.Score}
	switch said := string(higher[metric]); {
	case said == "false", said != "true" && slices.Contains(lmEvalLower, metric):
		m.Better = bench.Lower
	case said != "true" && !slices.Contains(lmEvalHigher, metric):
		m.Informational = true
		s.warn("the file does not state whether %s is better higher or lower, so it is shown and not gated: "+
			"read it by a suite with 'parser: lm-eval' and name its direction in metrics", text.Quote(metric, 80))
	}
	return m
}
