package latency

func ttft(o *Observation) float64 { return o.until(o.Reply.First) }

func ttfc(o *Observation) float64        { return o.until(o.Reply.FirstChunk) }
func ttftContent(o *Observation) float64 { return o.until(o.Reply.FirstContent) }

// ttftSend is the time to the first token without the queue before sending.
func ttftSend(o *Observation) float64 {
	if !o.Capped {
		return absent
	}
	return between(o.Reply.Send, o.Reply.First)
}

// ttftOfTurn is the time to the first token of the first question of a
// conversation, or of the later ones.
func ttftOfTurn(later bool) func(*Observation) float64 {
	return func(o *Observation) float64 {
		if o.Turn == 0 || later != (o.Turn > 1) {
			return absent
		}
		return ttft(o)
	}
}
