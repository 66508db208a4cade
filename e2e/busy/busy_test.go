// Package busy_test measures by commands whether the gate keeps its word on busy hosts.
package busy_test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// host is one on which commands measure.
type host struct {
	name      string
	neighbour string
	n         int
	minimum   [2]int // of 20 losses of 30 and of 10 % that are to be found
}

var hosts = []host{
	{"idle", "", 0, [2]int{20, 18}},
	{"1 spinner", "spin", 1, [2]int{20, 18}},
	{"2 spinners", "spin", 2, [2]int{20, 18}},
	{"4 spinners", "spin", 4, [2]int{15, 10}},
	{"bursts of 0.3 to 3 s", "bursts", 1, [2]int{20, 18}},
	{"memory bandwidth", "memory", 1, [2]int{20, 18}},
}

// The losses of a trial, in percent of decode's rate; the unchanged ones are several times as many, because few of them
// show nothing of a rate of 2 %.
var losses = []string{"30", "10", ""}

const unchangedTrials = 3

// cells are those of a trial: three of the quickstart's, of a tenth of a second each.
const cells = "tiny__cpu__short_text__*"

// row is what the trials on a host showed.
type row struct {
	host
	trials, red, failed [3]int // by loss
	seconds             [3][]float64
}

// TestBusyNightly holds that a report on unchanged code is hardly ever red and that losses are found, by the commands
// that a user types, beside neighbours that the test starts and ends. ACCELGATE_BUSY is the number of trials of
// each loss, 20 if empty; ACCELGATE_BUSY_HOSTS is a part of the names of the hosts to measure on. It takes hours, and
// nothing else should run meanwhile: make busy.
func TestBusyNightly(t *testing.T) {
	testtier.Nightly(t)
	trials, err := strconv.Atoi(cmp.Or(os.Getenv("ACCELGATE_BUSY"), "20"))
	if err != nil || trials < 1 {
		t.Fatal("ACCELGATE_BUSY is not a number of trials")
	}
	var rows []row
	for _, h := range hosts {
		if !strings.Contains(h.name, os.Getenv("ACCELGATE_BUSY_HOSTS")) {
			continue
		}
		r := row{host: h}
		t.Run(h.name, func(t *testing.T) {
			b := newBench(t)
			beside(t, h.neighbour, h.n)
			for i := range trials * unchangedTrials {
				for k, loss := range losses {
					if loss == "" || i < trials {
						b.trial(&r, k)
					}
				}
			}
		})
		rows = append(rows, r)
		t.Log("\n" + table(rows))
		r.check(t)
	}
	write(t, rows)
}

// check holds the aims. Of fewer trials it demands as large a share.
func (r *row) check(t *testing.T) {
	t.Helper()
	for k, minimum := range r.minimum {
		if 20*r.red[k] < minimum*r.trials[k] {
			t.Errorf("%s: -%s %% is found in %d of %d trials, want %d of 20", r.name, losses[k], r.red[k], r.trials[k], minimum)
		}
	}
	if n := r.trials[2]; 100*r.red[2] > 2*n && r.red[2] > 1 {
		t.Errorf("%s: %d of %d unchanged reports are red, want at most 2 %%", r.name, r.red[2], n)
	}
	for k, failed := range r.failed {
		if failed > 0 {
			t.Errorf("%s: %d of %d trials of -%s %% measured nothing", r.name, failed, r.trials[k], losses[k])
		}
	}
}

// bench is a project with its base.
type bench struct {
	t          *testing.T
	head, base string
}

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{t, t.TempDir(), t.TempDir()}
	config, err := os.ReadFile(filepath.Join("..", "..", "accelgate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{b.head, b.base} {
		err := errors.Join(os.WriteFile(filepath.Join(dir, "accelgate.yaml"), config, 0o644),
			os.CopyFS(filepath.Join(dir, "cases"), os.DirFS(filepath.Join("..", "..", "cases"))))
		if err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// trial is one command.
func (b bench) trial(r *row, k int) {
	args := []string{"run", "--ab", b.base, "--suite", "quickstart", "--only", cells}
	if losses[k] != "" {
		args = append(args, "--inject-slowdown", "decode="+losses[k]+"%")
	}
	cmd := exec.Command("accelgate", args...)
	cmd.Dir = b.head
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	started := time.Now()
	err := cmd.Run()
	r.seconds[k] = append(r.seconds[k], time.Since(started).Seconds())
	r.trials[k]++
	var exit *exec.ExitError
	switch code := 0; {
	case errors.As(err, &exit):
		if code = exit.ExitCode(); code == 1 {
			r.red[k]++
		} else {
			r.failed[k]++
		}
		if code != 1 || losses[k] == "" {
			b.t.Logf("accelgate %s: exit %d\n%s\n%s", strings.Join(args, " "), code, &log, &out)
		}
	case err != nil:
		b.t.Fatal(err)
	}
}

// table has a row a host.
func table(rows []row) string {
	var w strings.Builder
	fmt.Fprintln(&w, "| beside | unchanged: reports red | -30 %: found | -10 %: found | seconds a report: unchanged | -30 % | -10 % |")
	fmt.Fprintln(&w, "|---|---|---|---|---|---|---|")
	for _, r := range rows {
		fmt.Fprintf(&w, "| %s |", r.name)
		for _, k := range []int{2, 0, 1} {
			fmt.Fprintf(&w, " %d of %d |", r.red[k], r.trials[k])
		}
		for _, k := range []int{2, 0, 1} {
			fmt.Fprintf(&w, " %.0f |", stats.Median(r.seconds[k]))
		}
		fmt.Fprintln(&w)
	}
	return w.String()
}

// The marks around the table of docs/detection/busy-hosts.md.
const begin, end = "<!-- what follows is written by make busy UPDATE=1 -->\n", "<!-- end of the output of make busy -->\n"

// write writes the table into docs/detection/busy-hosts.md where that is asked for.
func write(t *testing.T, rows []row) {
	t.Helper()
	if asked := flag.Lookup("update"); asked.Value.String() != "true" {
		return
	}
	if len(rows) < len(hosts) {
		t.Fatal("the table of docs/detection/busy-hosts.md is of all hosts: leave out HOSTS")
	}
	path := filepath.Join("..", "..", "docs", "detection", "busy-hosts.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("docs/detection/busy-hosts.md has no marks for the table of busy hosts")
	}
	if err := os.WriteFile(path, []byte(before+begin+"\n"+table(rows)+"\n"+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
