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
	var blocks []block
	n := 0
	for i := range r.hosts {
		h := &r.hosts[i]
		if h.otherHost == nil || h.refused == 0 && h.notJudged() {
			continue
		}
		if n++; n > maxCautions {
			continue
		}
		line := inline{bold("Another host"), plain(": "), code(h.Run.Host.Label), plain(" is not the host that "), code(h.Path),
			plain(" was measured on: ")}
		if h.refused == 0 {
			blocks = append(blocks, paragraph(append(line, reason(h.otherHost.Reason))))
			continue
		}
		advice := ". Speeds were not judged. Give this host a label of its own, or, if it has replaced the other one, record it; type one of:"
		if !h.replaces() {
			advice = ". Speeds were not judged. Give this host a label of its own; its numbers can replace the other's once every cell of the baseline passes here. Type:"
		}
		blocks = append(blocks,
			paragraph(append(line, reason(h.Comparison.Unjudged), plain(advice))),
			preformatted(h.relabelled()),
			paragraph{plain("To judge its speeds by that baseline all the same, set policy.fingerprint: ignore in the configuration.")})
	}
	return withRest(blocks, n, "host with other hardware", "hosts with other hardware")
}

// uncounted lists the hosts whose runs are no evidence, where the title does not: another
// host's run failed.
func (r *Report) uncounted() []block {
	if r.in.Decision.Status == gate.StatusNoEvidence {
		return nil
	}
	var blocks []block
	for i := range r.hosts {
		if why := r.hosts[i].Comparison.NoEvidence; why != "" {
			blocks = append(blocks, paragraph{bold("Nothing counts"), plain(" of the run of "), code(r.hosts[i].Run.Host.Label),
				plain(": "), reason(why)})
		}
	}
	n := len(blocks)
	return withRest(blocks[:min(n, maxCautions)], n, "host whose run does not count", "hosts whose runs do not count")
}

// relabelled are the commands for a host whose label another machine has.
func (h *host) relabelled() []string {
	lines := []string{visible(h.Commands.RunAs + newLabel)}
	if h.replaces() {
		lines = append(lines, h.update("new host")+force)
	}
	return lines
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
		item := inline{plain(text.Plural(of.n, "cell"))}
		if len(r.hosts) > 1 {
			item = append(item, plain(" on "), code(r.hosts[of.host].Run.Host.Label))
		}
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
	var blocks []block
	n := 0
	for i := range r.hosts {
		h := &r.hosts[i]
		if h.retried == 0 {
			continue
		}
		if n++; n > maxCautions {
			continue
		}
		line := inline{plain(text.Plural(h.retried, "cell") + " passed after a retry")}
		if len(r.hosts) > 1 {
			line = append(line, plain(" on "), code(h.Run.Host.Label))
		}
		line = append(append(line, plain(": ")), such(h.afterRetry(first), h.retried)...)
		blocks = append(blocks, paragraph(append(line, plain("; look for what fails on this host"))))
	}
	return withRest(blocks, n, "host with retries", "hosts with retries")
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
	var blocks []block
	n := 0
	for i := range r.hosts {
		h := &r.hosts[i]
		noise := h.Comparison.Noise
		if noise == nil {
			continue
		}
		if n++; n > maxCautions {
			continue
		}
		line := inline{plain("A/A pairs")}
		if len(r.hosts) > 1 {
			line = append(line, plain(" on "), code(h.Run.Host.Label))
		}
		line = append(append(line, plain(fmt.Sprintf(": %d", noise.Pairs))), differences(noise.Metrics)...)
		blocks = append(blocks, paragraph(append(line, plain(r.thresholdNote(noise)))))
	}
	return withRest(blocks, n, "host with A/A pairs", "hosts with A/A pairs")
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
