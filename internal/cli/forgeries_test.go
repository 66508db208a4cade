package cli_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// forgeryNames are the names of all forgeries, sorted.
var forgeryNames = slices.Sorted(maps.Keys(forgeries))

// forgeries change what a run says besides the medians of its numbers.
var forgeries = map[string]func(r *rand.Rand, run document){
	"a wide spread": func(r *rand.Rand, run document) {
		each(run, func(s document) { s["values"] = spread(r, s["values"], 0.9) })
	},
	"many values": func(r *rand.Rand, run document) {
		each(run, func(s document) { s["values"] = repeated(s["values"], 40) })
	},
	"one value": func(r *rand.Rand, run document) {
		each(run, func(s document) { s["values"] = repeated(s["values"], 1)[:1] })
	},
	"a summary alone": func(r *rand.Rand, run document) {
		each(run, func(s document) {
			s["summary"] = document{"median": middle(s["values"]), "mad": 60, "n": 3, "noise": 0.9, "stderr": 40}
			delete(s, "values")
		})
	},
	"estimates": func(r *rand.Rand, run document) {
		each(run, func(s document) {
			values, _ := s["values"].([]any)
			s["estimates"] = slices.Repeat([]any{document{"n": 9, "low": 1, "high": 1000}}, len(values))
		})
	},
	"pairs that agree": func(r *rand.Rand, run document) { pair(run, oneOf(r, 2, 6, 20), func(v float64) float64 { return v }) },
	"pairs that win": func(r *rand.Rand, run document) {
		pair(run, oneOf(r, 2, 6, 20), func(v float64) float64 { return v * (0.5 + r.Float64()) })
	},
	"pairs that spread": func(r *rand.Rand, run document) {
		each(run, func(s document) {
			s["values"] = spread(r, s["values"], 0.9)
			s["base"] = slices.Clone(s["values"].([]any))
			r.Shuffle(len(s["base"].([]any)), func(i, j int) { base := s["base"].([]any); base[i], base[j] = base[j], base[i] })
		})
		run["base"] = ofMain
	},
	"pairs of no commit": func(r *rand.Rand, run document) {
		pair(run, 6, func(v float64) float64 { return v })
		run["base"] = oneOf(r, "", "unknown", strings.Repeat("9", 40))
	},
	"a doubt about the cell": func(r *rand.Rand, run document) { cells(run, func(c document) { c["caveat"] = "the client was slow" }) },
	"a doubt about numbers":  func(r *rand.Rand, run document) { each(run, func(s document) { s["caveat"] = "the client was slow" }) },
	"an unhealthy host": func(r *rand.Rand, run document) {
		cells(run, func(c document) {
			c["health"] = document{"status": oneOf(r, "unhealthy", "unknown"), "reasons": []any{"throttled"}}
		})
	},
	"a host that moved": func(r *rand.Rand, run document) {
		run["calibration"] = document{"before": []any{10, 10, 10}, "after": []any{oneOf(r, 11, 20, 90), 20, 20}}
	},
	"a slow calibration": func(r *rand.Rand, run document) {
		run["calibration"] = document{"before": []any{90, 91, 90}, "after": []any{90, 91, 90}}
	},
	"another machine": func(r *rand.Rand, run document) { host(run)[oneOf(r, "cpu", "driver", "os", "machine")] = "other" },
	"other cores":     func(r *rand.Rand, run document) { host(run)["cores"] = oneOf(r, 1, 64) },
	"an accelerator": func(r *rand.Rand, run document) {
		host(run)["accelerators"] = []any{document{"vendor": "nvidia", "model": "x"}}
	},
	"another label":           func(r *rand.Rand, run document) { host(run)["label"] = "other" },
	"a cell that was skipped": func(r *rand.Rand, run document) { some(r, run)["outcome"] = oneOf(r, "skipped", "failed", "incorrect") },
	"a cause": func(r *rand.Rand, run document) {
		c := some(r, run)
		c["outcome"], c["cause"], c["retries"] = "failed", oneOf(r, "timeout", "crash", "start"), 3
	},
	"a cell that was left out": func(r *rand.Rand, run document) {
		drop(run)
		run["left_out"] = []any{document{"cell": "m__c__f__baseline", "reason": "over the limit"}}
	},
	"a cell that was not selected": func(r *rand.Rand, run document) { drop(run); run["unselected"] = []any{"m__c__f__baseline"} },
	"a cell that is gone":          func(r *rand.Rand, run document) { drop(run) },
	"another cell": func(r *rand.Rand, run document) {
		some(r, run)["cell"] = document{"suite": "s", "id": "m__c__f__other"}
	},
	"another suite": func(r *rand.Rand, run document) { of(some(r, run), "cell")["suite"] = "other" },
	"a cell twice": func(r *rand.Rand, run document) {
		results, _ := run["results"].([]any)
		run["results"] = append(results, copied(some(r, run)))
	},
	"a twin": func(r *rand.Rand, run document) { some(r, run)["aa_partner"] = "m__c__g__baseline" },
	"values that chose the cell": func(r *rand.Rand, run document) {
		cells(run, func(c document) { c["selected"] = oneOf(r, 1, 2, 4, 5) })
	},
	"sessions": func(r *rand.Rand, run document) { cells(run, func(c document) { c["sessions"] = oneOf(r, 1, 3, 5) }) },
	"conditions": func(r *rand.Rand, run document) {
		cells(run, func(c document) {
			c["context"] = document{oneOf(r, "cpus", "numa", "mig", "devices", "rate", "timer"): "other"}
		})
	},
	"an artifact": func(r *rand.Rand, run document) {
		cells(run, func(c document) { c["artifacts"] = "sha256:" + strings.Repeat("a", 64) })
	},
	"a condition of the run": func(r *rand.Rand, run document) {
		run["context"] = document{oneOf(r, "unbuilt", "unpaired", "default_branch", "demonstration", "pairs", "pair_seed"): oneOf(r, "true", "3")}
	},
	"a metric that informs": func(r *rand.Rand, run document) { metrics(run, func(m document) { m["informational"] = true }) },
	"a metric the other way round": func(r *rand.Rand, run document) {
		metrics(run, func(m document) { m["better"] = oneOf(r, "lower", "higher") })
	},
	"a metric of another unit": func(r *rand.Rand, run document) { metrics(run, func(m document) { m["unit"] = "s" }) },
	"a metric that may be absent": func(r *rand.Rand, run document) {
		metrics(run, func(m document) { m["optional"] = true })
		some(r, run)["samples"] = []any{}
	},
	"a metric that counts": func(r *rand.Rand, run document) {
		metrics(run, func(m document) { m["min_count"], m["counted_by"] = 1000, oneOf(r, "tps", "ttft") })
	},
	"a metric that is confirmed": func(r *rand.Rand, run document) {
		metrics(run, func(m document) { m["confirmed_by"] = oneOf(r, "tps", "ttft", "other") })
	},
	"a metric that is coarse": func(r *rand.Rand, run document) { metrics(run, func(m document) { m["resolution"] = 1000 }) },
	"a metric with other properties": func(r *rand.Rand, run document) {
		metrics(run, func(m document) {
			m[oneOf(r, "kind", "definition", "exact")] = oneOf[any](r, "ratio", "tps", true)
			m["explains"] = 1000
		})
	},
	"a metric less": func(r *rand.Rand, run document) {
		list, _ := run["metrics"].([]any)
		run["metrics"] = list[:len(list)/2]
	},
	"a sample less": func(r *rand.Rand, run document) {
		c := some(r, run)
		list, _ := c["samples"].([]any)
		c["samples"] = list[len(list)/2:]
	},
	"what is absent": func(r *rand.Rand, run document) {
		some(r, run)["absent"] = []any{document{"metric": "tps", "at": "tps", "optional": true}}
	},
	"a shard": func(r *rand.Rand, run document) { run["shards"] = []any{oneOf(r, "1/1", "1/2", "2/2")} },
	"another time": func(r *rand.Rand, run document) {
		run["started"] = oneOf(r, "2099-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2020-01-01T00:00:00Z")
	},
	"another commit": func(r *rand.Rand, run document) { run["revision"] = strings.Repeat("1", 40) },
	"impossible numbers": func(r *rand.Rand, run document) {
		each(run, func(s document) { s["values"] = []any{middle(s["values"]), oneOf(r, 1e300, -1, 0, 1e-300)} })
	},
	"an excuse": func(r *rand.Rand, run document) {
		run[oneOf(r, "waivers", "quarantine", "verdicts", "policy")] = []any{document{"cell": "*"}}
	},
	"no results":              func(r *rand.Rand, run document) { run["results"] = []any{} },
	"warnings":                func(r *rand.Rand, run document) { run["warnings"] = slices.Repeat([]any{"the host was busy"}, 50) },
	"another value somewhere": func(r *rand.Rand, run document) { disturb(r, run, 1+r.IntN(3)) },
}

func oneOf[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// cells calls f for each result that is one.
func cells(run document, f func(document)) {
	results, _ := run["results"].([]any)
	for _, c := range results {
		if c, ok := c.(document); ok {
			f(c)
		}
	}
}

// some is one of the results.
func some(r *rand.Rand, run document) document {
	var all []document
	cells(run, func(c document) { all = append(all, c) })
	if len(all) == 0 {
		return document{}
	}
	return oneOf(r, all...)
}

// each calls f for each sample.
func each(run document, f func(document)) {
	cells(run, func(c document) {
		samples, _ := c["samples"].([]any)
		for _, s := range samples {
			if s, ok := s.(document); ok {
				f(s)
			}
		}
	})
}

func metrics(run document, f func(document)) {
	list, _ := run["metrics"].([]any)
	for _, m := range list {
		if m, ok := m.(document); ok {
			f(m)
		}
	}
}

func of(in document, key string) document {
	found, _ := in[key].(document)
	if found == nil {
		found = document{}
	}
	return found
}

func host(run document) document { return of(run, "host") }

func drop(run document) {
	if results, _ := run["results"].([]any); len(results) > 0 {
		run["results"] = results[1:]
	}
}

// middle is the median of values, which are no more than a few.
func middle(values any) float64 {
	var numbers []float64
	list, _ := values.([]any)
	for _, v := range list {
		if v, ok := v.(float64); ok {
			numbers = append(numbers, v)
		}
	}
	if len(numbers) == 0 {
		return 1
	}
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}

// spread draws pairs of values around the median, which stays what it is.
func spread(r *rand.Rand, values any, share float64) []any {
	center := middle(values)
	made := []any{center}
	for range 1 + r.IntN(12) {
		d := center * share * r.Float64()
		made = append(made, center+d, center-d)
	}
	return made
}

// repeated are n values that differ little, with the same median.
func repeated(values any, n int) []any {
	center := middle(values)
	made := []any{center}
	for i := range n {
		made = append(made, center*(1+0.001*float64(i%5)), center*(1-0.001*float64(i%5)))
	}
	return made
}

// pair gives all samples n values of a base, made of their own.
func pair(run document, n int, base func(float64) float64) {
	each(run, func(s document) {
		s["values"] = repeated(s["values"], n)[:n]
		var of []any
		for _, v := range s["values"].([]any) {
			of = append(of, base(v.(float64)))
		}
		s["base"] = of
	})
	run["base"] = ofMain
}

func copied(of document) (made document) {
	data, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(data, &made)
	}
	if err != nil {
		panic(err)
	}
	return made
}

// disturb replaces or removes values anywhere in a document.
func disturb(r *rand.Rand, in document, n int) {
	for range n {
		at := in
		for {
			keys := slices.Sorted(maps.Keys(at))
			if len(keys) == 0 {
				break
			}
			key := oneOf(r, keys...)
			next, ok := at[key].(document)
			if list, isList := at[key].([]any); isList && len(list) > 0 {
				next, ok = list[r.IntN(len(list))].(document)
			}
			if ok && r.IntN(8) > 0 {
				at = next
				continue
			}
			at[key] = oneOf[any](r, nil, true, "", "x", 0, -1, 1e9, 0.5, []any{}, document{})
			if r.IntN(4) == 0 {
				delete(at, key)
			}
			break
		}
	}
}
