package latency

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/text"
)

// From when on a number is doubtful. They are conventions of this package.
const (
	minAnswers        = 30   // answers
	maxCancelledShare = 0.1  // of measured requests
	maxCoalescedShare = 0.2  // of gaps between chunks
	maxFirstDistance  = 0.1  // between first chunk and first content, of the former
	minFirstDistance  = 1.0  // ms; less is the time between two writes
	maxCachedShare    = 0.2  // of prompt tokens; a chat template alone is about a tenth of a short prompt
	maxQueuedShare    = 0.25 // of TTFT
	minQueuedMS       = 20   // shorter waits are the network's and the sampler's
)

// warn adds what a reader of the numbers must know, in a fixed order.
func (m *measurement) warn() {
	for _, check := range []func() string{m.warnWindow, m.warnAnswers, m.warnCut, m.warnSaturated, m.warnNotes, m.warnPrompts,
		m.warnSource, m.warnHidden, m.warnChunks,
		m.warnCoalesced, m.warnFirst, m.warnCached, m.warnQueued} {
		if w := check(); w != "" {
			m.out.Warnings = append(m.out.Warnings, w)
		}
	}
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }

func (m *measurement) warnWindow() string {
	if m.length > 0 {
		return ""
	}
	return "the window that was measured is empty, so there are no rates per second: measure for longer"
}

func (m *measurement) warnAnswers() string {
	if len(m.ok) >= minAnswers {
		return ""
	}
	return fmt.Sprintf("%d of %d requests were answered, and %d are the least for numbers to rest on: measure for longer",
		len(m.ok), m.total(), minAnswers)
}

func (m *measurement) warnCut() string {
	share := float64(m.cancelled) / float64(len(m.measured))
	if !(share > maxCancelledShare) {
		return ""
	}
	return fmt.Sprintf(
		"the end of the measurement cut %s of the requests, and the slowest are cut first, so latencies look better than they are: %s",
		percent(share), m.remedy())
}

// remedy is what to do about requests that were cut.
func (m *measurement) remedy() string {
	if m.Open {
		return "lower the rate or lengthen the drain"
	}
	return "measure for longer, or lengthen the drain"
}

func (m *measurement) warnSaturated() string {
	if !m.out.Saturated {
		return ""
	}
	return "requests waited ever longer to be sent, so latencies depend on how long was measured: lower the rate, or allow more requests in flight"
}

// warnNotes shows what of the server's counts was ignored.
func (m *measurement) warnNotes() string {
	n, first := 0, ""
	for _, o := range m.ok {
		if o.Reply.Note != "" {
			n, first = n+1, cmp.Or(first, o.Reply.Note)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d answers report tokens that cannot be, which were ignored, such as that %s: "+
		"correct what the server, or a proxy before it, reports as usage", n, len(m.ok), first)
}

// warnPrompts shows prompts with fewer tokens than words, which a server has cut
// or counts otherwise.
func (m *measurement) warnPrompts() string {
	n, words, tokens := 0, 0, 0
	for _, o := range m.ok {
		if said := o.Reply.PromptTokens; 0 < said && said < o.Words {
			if n == 0 {
				words, tokens = o.Words, said
			}
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("in %d of %s the server counts fewer tokens than the prompt has words, such as %d where %d words were sent: "+
		"look for a cut prompt in its log, and set expect.prompt_tokens to words to fail such answers", n, text.Plural(len(m.ok), "answer"),
		tokens, words)
}

func (m *measurement) warnSource() string {
	if m.out.TokenSource == "" || m.out.TokenSource == openai.FromUsage {
		return ""
	}
	return "the server did not always report usage, so output tokens are counted by chunks, which is a lower bound: " +
		"have the server report usage in streams"
}

func (m *measurement) warnHidden() string {
	if m.hidden == 0 {
		return ""
	}
	return fmt.Sprintf(
		"%d of %d answers count tokens that were not streamed, such as hidden reasoning: %s of the counted tokens came, and tpot_*_ms is over these: "+
			"have the server stream its reasoning, or compare throughput_tok_per_s", m.hidden, len(m.ok), percent(m.out.StreamedShare))
}

func (m *measurement) warnChunks() string {
	distance, _ := m.chunkDistance()
	if distance <= maxChunkDistance {
		return ""
	}
	return fmt.Sprintf(
		"the server counts %s more or fewer tokens than it sent chunks, so icl_*_ms is not a time between tokens: compare tpot_*_ms instead",
		percent(distance))
}

func (m *measurement) warnCoalesced() string {
	if m.coalesced <= maxCoalescedShare {
		return ""
	}
	return fmt.Sprintf("%s of the chunks arrived together with the one before, so icl_*_ms shows the connection rather than the server: "+
		"compare tpot_*_ms instead", percent(m.coalesced))
}

func (m *measurement) warnFirst() string {
	chunk, content := m.value("ttfc_p50_ms"), m.value("ttft_content_p50_ms")
	if !(content-chunk > maxFirstDistance*chunk && content-chunk > minFirstDistance) {
		return ""
	}
	return fmt.Sprintf("the first chunk came after %.4g ms and the first text after %.4g ms, because of a role or of reasoning before it: "+
		"compare with tools that stamp the first chunk by ttfc_*_ms", chunk, content)
}

func (m *measurement) warnCached() string {
	share := m.value("cached_token_rate")
	if conversing := slices.ContainsFunc(m.ok, func(o *Observation) bool { return o.Turn > 0 }); conversing || !(share > maxCachedShare) {
		return ""
	}
	return fmt.Sprintf("%s of the prompt tokens came from the server's cache, so TTFT is that of repeated prompts: "+
		"use distinct prompts unless that is what is to be measured", percent(share))
}

// warnQueued compares TTFT with the time that the server itself says it spent
// on the prompt.
func (m *measurement) warnQueued() string {
	waits := present(m.ok, queued)
	slices.Sort(waits)
	wait, first := percentile(waits, 0.5), m.value("ttft_p50_ms")
	if sent := m.value("ttft_send_p50_ms"); sent == sent {
		first = sent
	}
	if !(wait > math.Max(minQueuedMS, maxQueuedShare*first)) {
		return ""
	}
	return fmt.Sprintf("of a median TTFT of %.4g ms the server spent all but %.4g ms on the prompt, so requests wait in its queue: "+
		"send fewer at once to measure the engine rather than the queue", first, wait)
}

func queued(o *Observation) float64 {
	if !(o.Reply.ServerPromptMS > 0) {
		return absent
	}
	return between(o.Reply.Send, o.Reply.First) - o.Reply.ServerPromptMS
}
