package mock

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Fault
		err  string
	}{
		{text: "die", want: Fault{Kind: Die}},
		{text: "reset-midstream:after=3,every=5", want: Fault{Kind: ResetMidstream, After: 3, Every: 5}},
		{text: "stall:at=2,n=4,for=1.5s", want: Fault{Kind: Stall, At: 2, N: 4, For: 1500 * time.Millisecond}},
		{text: "", err: "choose one of split"},
		{text: "sulk", err: "choose one of split"},
		{text: "die:", err: "choose of at=K"},
		{text: "die:at=x", err: "whole number"},
		{text: "die:for=x", err: "duration"},
		{text: "die:at=-1", err: "out of range"},
		{text: "die:at=1,every=2", err: "exclude each other"},
		{text: "split:n=1000000", err: "choose 0 to 1000"},
		{text: "stall:for=-1s", err: "choose 0 to 24h"},
	} {
		got, err := parseFault(c.text)
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%q: %+v, %v, want %+v", c.text, got, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: %v, want an error with %q", c.text, err, c.err)
		}
	}
}

// TestEveryKindCanBeAimed: with a number, a kind leaves the other requests
// alone.
func TestEveryKindCanBeAimed(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		s := start(t, Config{}, string(k)+":at=2")
		post(t.Context(), s, chatPath, chatStream)
		if got := s.Seen().Requests[0].Faults; len(got) != 0 {
			t.Errorf("%s: the first request met %v", k, got)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	for _, text := range []string{"die", "reset-midstream:after=3,every=5", "stall:at=2,n=4,for=1.5s", "x:", ":", "die:for=1h,,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fault, err := parseFault(text)
		if err != nil {
			return
		}
		if again, err := parseFault(fault.String()); err != nil || again != fault {
			t.Errorf("%q is %+v, and its own form %q is %+v: %v", text, fault, fault.String(), again, err)
		}
	})
}

// String returns the fault as [parseFault] reads it.
func (f Fault) String() string {
	var settings []string
	for _, s := range []struct {
		key   string
		value int
	}{{"at", f.At}, {"every", f.Every}, {"after", f.After}, {"n", f.N}} {
		if s.value != 0 {
			settings = append(settings, s.key+"="+strconv.Itoa(s.value))
		}
	}
	if f.For != 0 {
		settings = append(settings, "for="+f.For.String())
	}
	if len(settings) == 0 {
		return string(f.Kind)
	}
	return string(f.Kind) + ":" + strings.Join(settings, ",")
}
