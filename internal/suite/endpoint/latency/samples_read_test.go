package latency_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// TestSamplesComeBack: what was written yields the same metrics, bit by bit.
func TestSamplesComeBack(t *testing.T) {
	t.Parallel()
	observations := random(3, 400)
	for i := range observations {
		observations[i].Words, observations[i].Outstanding = i%7, i%5
	}
	text := write(t, observations)
	got, err := latency.ReadSamples(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if again := write(t, got); again != text {
		t.Fatal("written again, the samples differ")
	}
	window := load.Window{Start: time.Second, End: 6 * time.Second, Drained: 7 * time.Second}
	a := latency.Compute(latency.Input{Observations: observations, Window: window})
	b := latency.Compute(latency.Input{Observations: got, Window: window})
	if !reflect.DeepEqual(a, b) {
		t.Errorf("got %+v\nwant %+v", b, a)
	}
}

func TestShiftKeepsLatencies(t *testing.T) {
	t.Parallel()
	observations := random(4, 200)
	window := load.Window{Start: time.Second, End: 3 * time.Second, Drained: 4 * time.Second}
	want := latency.Compute(latency.Input{Observations: observations, Window: window})
	for i := range observations {
		observations[i].Shift(time.Hour)
	}
	window = load.Window{Start: window.Start + time.Hour, End: window.End + time.Hour, Drained: window.Drained + time.Hour}
	if got := latency.Compute(latency.Input{Observations: observations, Window: window}); !reflect.DeepEqual(got.Samples, want.Samples) {
		t.Errorf("got %+v\nwant %+v", got.Samples, want.Samples)
	}
}

func TestSamplesThatCannotBe(t *testing.T) {
	t.Parallel()
	good := strings.TrimSpace(write(t, []latency.Observation{answer(0, 0, 10*ms, 2*ms, 3)}))
	for _, edit := range [][2]string{
		{`"request_idx":0`, `"request_idx":-1`}, {`"request_idx":0`, `"request_idx":null`}, {`"phase":"measure"`, `"phase":"cooldown"`},
		{`"outcome":"ok"`, `"outcome":"fine"`}, {`"outcome"`, `"outcame"`}, {`"due_ns":0`, `"due_ns":-5`}, {`"due_ns":0`, `"due_ns":9000000000000000000`},
		{`"gaps_ns":[0`, `"gaps_ns":[-1`}, {`"reads":[0`, `"reads":[0,0`}, {`"token_source":"usage"`, `"token_source":"guess"`}, {`}`, `}{}`}, {`}`, ``},
		{`"tokens_in":50`, `"tokens_in":-50`},
	} {
		bad := strings.Replace(good, edit[0], edit[1], 1)
		if bad == good {
			t.Fatalf("%s is not in %s", edit[0], good)
		}
		if _, err := latency.ReadSamples(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: got %v", edit[1], err)
		}
	}
}

func FuzzReadSamples(f *testing.F) {
	f.Add([]byte(write(f, random(6, 3))))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := latency.ReadSamples(bytes.NewReader(data))
		if err != nil {
			return
		}
		latency.Compute(latency.Input{Observations: got, Window: load.Window{Start: 1, End: time.Second, Drained: time.Second}})
		if _, err := latency.ReadSamples(strings.NewReader(write(t, got))); err != nil {
			t.Errorf("what was read is not read again: %v", err)
		}
	})
}
