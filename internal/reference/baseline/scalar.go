package baseline

import (
	"encoding/json"
	"strconv"
	"time"
)

// The methods below read one value into *dst. A null leaves it as it is; a
// value of the wrong type is noted and skipped.

// optional reads a value that may be absent: null leaves nil.
func optional[T any](r *reader, dst **T, read func(*T)) {
	if !r.null() {
		*dst = new(T)
		read(*dst)
	}
}

// keep holds on to a member that is unknown to this build.
func (r *reader) keep(extra *[]unknown, key string) {
	*extra = append(*extra, unknown{key, r.raw()})
}

func (r *reader) text(dst *string) {
	if r.aString() {
		*dst = string(r.str())
	}
}

// shared is text for strings that many entries share.
func (r *reader) shared(dst *string) {
	if r.aString() {
		*dst = r.word()
	}
}

func (r *reader) aString() bool {
	if r.null() {
		return false
	}
	if r.peek() != '"' {
		r.mismatch("a string")
		return false
	}
	return true
}

func (r *reader) flag(dst *bool) {
	if r.null() {
		return
	}
	switch string(r.literal()) {
	case "true":
		*dst = true
		r.pos += len("true")
	case "false":
		*dst = false
		r.pos += len("false")
	default:
		r.mismatch("true or false")
	}
}

// Larger numbers than these are damage, not measurements.
const (
	maxNumber = 1e21    // where JSON writers turn to exponents
	maxCount  = 1 << 30 // of values; fits an int everywhere
	maxCalls  = 1 << 53 // of an operator; float64 has all whole numbers up to here
)

func (r *reader) number(dst *float64) {
	if r.null() {
		return
	}
	if c := r.peek(); c != '-' && (c < '0' || c > '9') {
		r.mismatch("a number")
		return
	}
	at, lit := r.pos, r.literal()
	r.pos += len(lit)
	v, err := strconv.ParseFloat(string(lit), 64)
	switch {
	case !json.Valid(lit):
		r.note(at, "%s is not a number: write digits, such as 95.3", clip(string(lit)))
	case err != nil || v > maxNumber || v < -maxNumber:
		r.note(at, "%s is %s, which nothing measures: "+mend, r.subject(), clip(string(lit)))
	case v == 0:
		*dst = 0 // never a negative zero
	default:
		*dst = v
	}
}

// positive is number for what cannot be negative.
func (r *reader) positive(dst *float64) {
	var v float64
	at := r.next()
	r.number(&v)
	if v < 0 {
		r.note(at, "%s is negative: "+mend, r.subject())
		return
	}
	*dst = v
}

// count reads a whole number from 0 to maximum.
func (r *reader) count(maximum int64) int64 {
	var v float64
	at := r.next()
	r.number(&v)
	if v < 0 || v > float64(maximum) || v != float64(int64(v)) {
		r.note(at, "%s is %v: write a whole number from 0 to %d", r.subject(), v, maximum)
		return 0
	}
	return int64(v)
}

// Times are written as TensorSharp does: in UTC, with up to seven digits.
const timeLayout = "2006-01-02T15:04:05.9999999-07:00"

// timeLayouts are what System.Text.Json accepts. Without an offset, a time is
// UTC.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02"}

func (r *reader) time(dst *time.Time) {
	var text string
	at := r.next()
	if r.shared(&text); text == "" {
		return
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			if t = t.UTC().Truncate(100); t.Year() >= 1 && t.Year() <= 9999 {
				*dst = t
				return
			}
		}
	}
	r.note(at, "%s is %s: write a time such as \"2026-03-01T09:00:00Z\"", r.subject(), quote(text))
}
