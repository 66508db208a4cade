package openai

// event joins the data lines of one event, which mostly has one. Some servers
// write JSON over several lines, and others no empty line between events.
type event struct {
	first []byte // the first line that is no JSON by itself; nil without one
	text  []byte // all lines so far, where there are several
	lines int
}

// add takes a data line and returns its chunk if it is whole. A line that is one
// by itself ends what came before it.
func (e *event) add(value []byte) (k chunk, whole bool) {
	k, whole = parseChunk(value)
	if whole && (e.lines == 0 || k.choice || k.usage || k.failure != nil) {
		return k, true
	}
	if e.lines++; e.lines == 1 {
		e.first = value
		return noChunk, false
	}
	if e.lines == 2 {
		e.text = append([]byte(nil), e.first...)
	}
	e.text = append(append(e.text, '\n'), value...)
	return noChunk, false
}

// end closes the event and returns the chunk of its lines together, or the
// first of them if they are no JSON. Both are empty where nothing is left.
func (e *event) end() (k chunk, whole bool, bad []byte) {
	k, bad = noChunk, e.first
	if e.lines > 1 {
		if k, whole = parseChunk(e.text); whole {
			bad = nil
		}
	}
	*e = event{}
	return k, whole, bad
}
