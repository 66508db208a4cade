package report

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// The paragraphs of this file explain the numbers; each kind has at most five.
const maxCautions = 5

// otherMachines warns of hosts that are not the host of their baseline, with
// the next command. Where speeds are just not judged, notJudged does.
func (r *Report) otherMachines() []block {
	return r.perHost("host with other hardware", "hosts with other hardware", func(h *host) []block {
		if h.otherHost == nil || h.refused == 0 && h.notJudged() {
			return nil
		}
		line := inline{bold("Another host"), plain(": "), code(h.Run.Host.Label), plain(" is not the host that "), code(h.Path),
			plain(" was measured on: ")}
		if h.refused == 0 {
			return []block{paragraph(append(line, reason(h.otherHost.Reason)))}
		}
		advice := ". Speeds were not judged. Give this host a label of its own, or, if it has replaced the other one, record it; type one of:"
		if !h.replaces() {
			advice = ". Speeds were not judged. Give this host a label of its own; its numbers can replace the other's once every cell of the baseline passes here. Type:"
		}
		return []block{
			paragraph(append(line, reason(h.Comparison.Unjudged), plain(advice))),
			preformatted(h.relabelled()),
			paragraph{plain("To judge its speeds by that baseline all the same, set policy.fingerprint: ignore in the configuration.")},
		}
	})
}

// uncounted lists the hosts whose runs are no evidence, where the title does not: another
// host's run failed.
func (r *Report) uncounted() []block {
	if r.in.Decision.Status == gate.StatusNoEvidence {
		return nil
	}
	return r.perHost("host whose run does not count", "hosts whose runs do not count", func(h *host) []block {
		why := h.Comparison.NoEvidence
		if why == "" {
			return nil
		}
		return []block{paragraph{bold("Nothing counts"), plain(" of the run of "), code(h.Run.Host.Label), plain(": "), reason(why)}}
	})
}

// relabelled are the commands for a host whose label another machine has.
func (h *host) relabelled() []string {
	lines := []string{visible(h.Commands.RunAs + newLabel)}
	if h.replaces() {
		lines = append(lines, h.update("new host")+force)
	}
	return lines
}

// perHost returns the notes on the first hosts that have one, and how many more there are.
func (r *Report) perHost(one, many string, noteOn func(h *host) []block) (blocks []block) {
	n := 0
	for i := range r.hosts {
		if note := noteOn(&r.hosts[i]); note != nil {
			if n++; n <= maxCautions {
				blocks = append(blocks, note...)
			}
		}
	}
	return withRest(blocks, n, one, many)
}

// withRest adds how many of n were not shown.
func withRest(blocks []block, n int, one, many string) []block {
	switch more := n - maxCautions; {
	case more == 1:
		blocks = append(blocks, paragraph{plain("… and 1 more " + one)})
	case more > 1:
		blocks = append(blocks, paragraph{plain(fmt.Sprintf("… and %d more %s", more, many))})
	}
	return blocks
}

// notMeasured declares the cells that a limit kept from being measured.
func (r *Report) notMeasured() []block {
	g := &r.shown.leftOut
	if g.cells == 0 {
		return nil
	}
	list, rest := g.largest(maxCautions)
	var items bullets
	for _, of := range list {
		item := r.onHost(&r.hosts[of.host], inline{plain(text.Plural(of.n, "cell"))})
		item = append(append(item, plain(": "), reason(of.reason), plain(" (")), such(of.cells, of.n)...)
		items = append(items, append(item, plain(")")))
	}
	if rest > 0 {
		items = append(items, inline{plain(text.Plural(rest, "cell") + " for other reasons")})
	}
	were := "were"
	if g.cells == 1 {
		were = "was"
	}
	return []block{paragraph{bold(text.Plural(g.cells, "cell") + " " + were + " not measured"),
		plain("; raise limits.budget or limits.max_cells in the configuration, or split the matrix over more jobs:")}, items}
}

// retried warns of cells that passed at a later attempt only.
func (r *Report) retried() []block {
	const first = 3
	return r.perHost("host with retries", "hosts with retries", func(h *host) []block {
		if h.retried == 0 {
			return nil
		}
		line := r.onHost(h, inline{plain(text.Plural(h.retried, "cell") + " passed after a retry")})
		line = append(append(line, plain(": ")), such(h.afterRetry(first), h.retried)...)
		return []block{paragraph(append(line, plain("; look for what fails on this host")))}
	})
}

// afterRetry names the first cells that passed after a retry.
func (h *host) afterRetry(maximum int) []string {
	var ids []string
	for i := range h.Run.Results {
		if res := &h.Run.Results[i]; passedAfterRetry(res) {
			if ids = append(ids, res.Cell.ID()); len(ids) == maximum {
				break
			}
		}
	}
	return ids
}

// pairs compares the threshold with the noise of A/A pairs.
func (r *Report) pairs() []block {
	return r.perHost("host with A/A pairs", "hosts with A/A pairs", func(h *host) []block {
		noise := h.Comparison.Noise
		if noise == nil {
			return nil
		}
		line := r.onHost(h, inline{plain("A/A pairs")})
		line = append(append(line, plain(fmt.Sprintf(": %d", noise.Pairs))), differences(noise.Metrics)...)
		return []block{paragraph(append(line, plain(r.thresholdNote(noise))))}
	})
}

// differences writes ", median 1.2 %, largest 4.0 %", for each metric if there
// are several.
func differences(metrics []gate.MetricNoise) inline {
	const maximum = 4
	var line inline
	for i, m := range metrics[:min(maximum, len(metrics))] {
		line = append(line, plain(map[bool]string{true: ", ", false: "; "}[i == 0]))
		if len(metrics) > 1 {
			line = append(line, code(m.Metric), plain(" "))
		}
		line = append(line, plain(fmt.Sprintf("median %.1f %%, largest %.1f %%", finite(m.Median), finite(m.Largest))))
	}
	if more := len(metrics) - maximum; more > 0 {
		line = append(line, plain("; and "+text.Plural(more, "more metric")))
	}
	return line
}

// thresholdNote returns whether the threshold is above the noise.
func (r *Report) thresholdNote(noise *gate.Noise) string {
	limit := bare(r.in.Policy.Threshold)
	switch {
	case len(noise.Metrics) == 0:
		return ", none with a metric that is gated: let the cells report a speed"
	case noise.Beyond(r.in.Policy.Threshold):
		return ": the threshold of " + limit + " is within the noise: raise repeats, or the threshold"
	}
	return ": the threshold of " + limit + " is above the noise"
}

// base is the flag that names the checkout of the base, where it is known.
func (h *host) base() string {
	if h.Commands.Base == "" {
		return " --ab BASE-CHECKOUT"
	}
	return " --ab " + text.ShellWord(h.Commands.Base)
}
