package progress_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure/progress"
)

// log is what a display writes.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func measured(id string, round, rounds int, value float64) progress.Measurement {
	return progress.Measurement{Round: round, Rounds: rounds, Result: bench.Result{Cell: bench.Cell{Raw: id}, Outcome: bench.Passed,
		Samples: []bench.Sample{{Metric: "tps", Values: []float64{value}}, {Metric: "load_ms", Values: []float64{1}}}}}
}

func failed(id, reason string) progress.Measurement {
	m := measured(id, 1, 3, 0)
	m.Result.Outcome, m.Result.Reason, m.Result.Samples = bench.Failed, reason, nil
	return m
}

func gated(metric string) bool { return metric == "tps" }

func stage(rounds int, cells ...string) progress.Stage {
	s := progress.Stage{Name: "measure", Todo: map[string]int{}}
	for _, id := range cells {
		s.Todo[id] = rounds
	}
	return s
}

// TestLog has a line for each finished cell, a group for GitHub's runner and a cell that
// a budget cut short.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out log
		d := progress.New(progress.Options{Out: &out, Groups: &out, Now: time.Now})
		end := d.Stage(stage(3, "a", "b", "c"))
		for round := 1; round <= 3; round++ {
			d.Started("a")
			time.Sleep(2 * time.Second)
			d.Finished(measured("a", round, 3, float64(100+round)), gated)
			if round == 1 {
				d.Finished(failed("b", "RuntimeError"), gated)
			}
		}
		d.Finished(measured("c", 1, 3, 7), gated)
		fmt.Fprintln(d, "accelgate: warning: x")
		end()
		d.Table(gated)
		d.Close()
		want := "::group::measure: 3 cells, 9 measurements\n" +
			"[1/3] failed    b: RuntimeError\n" +
			"[2/3] passed    a  tps 102  (median of 3)  6s\n" +
			"accelgate: warning: x\n" +
			"[3/3] passed    c  tps 7  load_ms 1\n" +
			"::endgroup::\n"
		if got := out.String(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// TestNothingIsSilent lets an hour pass on a fake clock: a log gets a line at least each
// minute, whether a cell is measured or a base is built, and none where it has its own.
func TestNothingIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out log
		d := progress.New(progress.Options{Out: &out, Now: time.Now})
		end := d.Begin("prepare the base")
		time.Sleep(30 * time.Minute)
		end()
		building := strings.Count(out.String(), "prepare the base")
		if building < 30 || building > 60 {
			t.Errorf("%d lines in 30 minutes of building, want 30 to 60", building)
		}
		end = d.Stage(stage(2, "slow", "next"))
		d.Expect(map[string]time.Duration{"slow": 20 * time.Minute, "next": 5 * time.Minute})
		d.Started("slow")
		d.Detail("slow", "12 requests, 1.0/s")
		time.Sleep(10 * time.Minute)
		d.Finished(measured("slow", 1, 2, 1), gated)
		time.Sleep(10 * time.Minute)
		end()
		d.Close()
		measuring := out.String()
		if n := strings.Count(measuring, "accelgate: measure: 0 of 2 cells · round 1/2"); n < 20 || n > 41 {
			t.Errorf("%d lines in 20 minutes of measuring, want 20 to 41", n)
		}
		for _, want := range []string{"12 requests, 1.0/s · slow", "about 49m30s left", "about 20m0s left"} {
			if !strings.Contains(measuring, want) {
				t.Errorf("lacks %q:\n%s", want, measuring)
			}
		}
		before := out.String()
		time.Sleep(time.Hour)
		if out.String() != before {
			t.Error("lines are written after the end")
		}
	})
}

// TestStatusLine shows a status line with the rounds, the time that is left and the
// failures, writes what is permanent above it, leaves nothing of it, and ends in a table.
func TestStatusLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out log
		d := progress.New(progress.Options{Out: &out, Live: true, Columns: 120, Now: time.Now})
		end := d.Stage(stage(3, "a", "b"))
		for round := 1; round <= 3; round++ {
			d.Started("a")
			time.Sleep(10 * time.Second)
			d.Finished(measured("a", round, 3, 100), gated)
			if round == 1 {
				d.Started("b")
				time.Sleep(5 * time.Second)
				d.Finished(failed("b", "RuntimeError"), gated)
			}
			time.Sleep(time.Second)
		}
		end()
		d.Table(gated)
		d.Close()
		text := out.String()
		for _, want := range []string{"measure: 0 of 2 cells · round 1/3 · ", "1 of 2 cells · round 2/3", "1 failed", "about 10s left", " a 9s", "[##", "failed    b: RuntimeError\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("lacks %q", want)
			}
		}
		if n := strings.Count(text, "measure: "); n < 37*5 {
			t.Errorf("%d refreshes in 37 seconds, want 5 a second", n)
		}
		if want := "\na  tps     100 ± 0 % (n=3)\nb  failed  RuntimeError\n"; !strings.HasSuffix(text, want) {
			t.Errorf("ends in %q, want %q", text[max(0, len(text)-200):], want)
		}
	})
}

func TestQuietAndVerbose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(o progress.Options) string {
			var out log
			o.Out, o.Now = &out, time.Now
			d := progress.New(o)
			defer d.Close()
			end := d.Stage(stage(2, "a"))
			d.Finished(measured("a", 1, 2, 1), gated)
			d.Finished(measured("a", 2, 2, 2), gated)
			time.Sleep(5 * time.Minute)
			fmt.Fprintln(d, "warning")
			end()
			return out.String()
		}
		if got := run(progress.Options{Quiet: true}); got != "warning\n" {
			t.Errorf("quiet: %q", got)
		}
		if got := run(progress.Options{Each: true}); !strings.HasPrefix(got, "[round 1/2] passed    a  tps 1\n[round 2/2] passed    a  tps 2\naccelgate: measure: ") {
			t.Errorf("verbose: %q", got)
		}
	})
}

// TestForget: a command that measures twice shows the second run by its own values.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out log
		d := progress.New(progress.Options{Out: &out, Now: time.Now})
		for _, value := range []float64{1, 100} {
			d.Forget()
			end := d.Stage(stage(1, "a"))
			d.Finished(measured("a", 1, 1, value), gated)
			end()
		}
		if got, want := out.String(), "[1/1] passed    a  tps 1\n[1/1] passed    a  tps 100\n"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// TestHostileNames: a name cannot move the cursor, colour the terminal or command the
// runner, on any road.
func TestHostileNames(t *testing.T) {
	own := regexp.MustCompile("\x1b\\[1A|\x1b\\[J|\r")
	for _, evil := range []string{"\x1b[31mred\x1b]8;;http://x\x07", "\n::error::x", "\r\n##[error]x", "\u202ecod\u200b", "\xff\xfe", strings.Repeat("é漢", 400)} {
		for _, o := range []progress.Options{{Live: true, Columns: 80}, {Each: true}, {}} {
			synctest.Test(t, func(t *testing.T) {
				var out log
				o.Out, o.Now = &out, time.Now
				d := progress.New(o)
				end := d.Stage(stage(1, "x"+evil, "y"+evil))
				d.Started("x" + evil)
				d.Detail("x"+evil, "1 request")
				time.Sleep(time.Minute)
				m := measured("x"+evil, 1, 1, 1)
				m.Result.Samples[0].Metric = "m" + evil
				d.Finished(m, func(string) bool { return true })
				d.Finished(failed("y"+evil, "r"+evil), gated)
				time.Sleep(time.Minute)
				end()
				d.Table(func(string) bool { return true })
				d.Close()
				for line := range strings.Lines(own.ReplaceAllString(out.String(), "\n")) {
					line = strings.TrimSuffix(line, "\n")
					if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
						t.Errorf("%+v: %q is not printable", o, line)
					}
					if strings.HasPrefix(strings.TrimSpace(line), "::") {
						t.Errorf("%+v: %q commands the runner", o, line)
					}
				}
			})
		}
	}
}
