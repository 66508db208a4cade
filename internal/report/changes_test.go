package report_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/google/go-cmp/cmp"
)

func refresh(s string, changes int) report.Refresh {
	before := bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "EPYC 7763" + s, Cores: 2, MemoryGiB: 8, Driver: "550"}
	after := before
	after.Driver = "570" + s
	h := report.HostChanges{Host: "linux-cuda" + s, Path: "baselines/baseline-linux-cuda.json" + s, Before: &before, After: after}
	for i := range changes {
		c := report.Change{Cell: fmt.Sprintf("m%03d%s", i, s), Metric: "decode_tps" + s, Unit: "tok/s" + s,
			Better: bench.Higher, Old: 100, New: 100 + float64(i%7-3), HasOld: i%5 != 4}
		if i%3 == 1 {
			c.Metric, c.Better, c.Unit = "ttft_ms", bench.Lower, "ms"
		}
		h.Changes = append(h.Changes, c)
	}
	return report.Refresh{Tool: "accelgate v0.1.0" + s, Reason: "new driver" + s, Revision: "9f2c1e7d1c2b3a4958677685940312fedcba9876",
		Links: report.Links{Run: ownLink}, Hosts: []report.HostChanges{h,
			{Host: "macos-mlx" + s, Path: "baselines/baseline-macos-mlx.json", After: bench.Fingerprint{CPU: "Apple M4 Max" + s, Cores: 16},
				Changes: []report.Change{{Cell: "m" + s, Metric: "decode_tps", New: 61.5}}}}}
}

func TestChangesGolden(t *testing.T) {
	title, body := report.Changes(refresh("", 12))
	golden(t, filepath.Join("testdata", "changes.md"), title+"\n\n"+body)
	skeleton(t, body)
}

func TestChangesAreHarmless(t *testing.T) {
	_, body := report.Changes(refresh("x", 8))
	want := skeleton(t, body)
	for _, evil := range hostile {
		title, body := report.Changes(refresh("x"+evil+"x", 8))
		checkPlain(t, title)
		if diff := cmp.Diff(want, skeleton(t, body)); diff != "" {
			t.Errorf("%q changes the structure (-want +got):\n%s", evil, diff)
		}
	}
}

func TestChangesTitle(t *testing.T) {
	one := report.Refresh{Hosts: []report.HostChanges{{Host: "linux\u202e-cuda"}}}
	if got, _ := report.Changes(one); got != "Refresh the baseline of linux<U+202E>-cuda" {
		t.Errorf("title %q", got)
	}
	if got, _ := report.Changes(refresh("", 1)); got != "Refresh the baselines of 2 hosts" {
		t.Errorf("title %q", got)
	}
}

// TestChangesLimit shows fewer rows until the body fits, and says so.
func TestChangesLimit(t *testing.T) {
	in := refresh(strings.Repeat("long", 30), 500)
	rows := -1
	for _, limit := range []int{0, 12_000, 6_000, 3_000, 100} {
		in.Limit = limit
		_, body := report.Changes(in)
		if limit == 0 {
			limit = report.MarkdownBytes
		}
		if len(body) > max(limit, 1000) {
			t.Errorf("limit %d: %d bytes", limit, len(body))
		}
		n := strings.Count(body, "\n| `m")
		if rows >= 0 && n >= rows && n > 0 {
			t.Errorf("limit %d: %d rows, no fewer than %d", limit, n, rows)
		}
		if rows = n; !strings.Contains(body, " more\n") && !strings.Contains(body, "Left out") {
			t.Errorf("limit %d: does not say what was left out", limit)
		}
		skeleton(t, body)
	}
}
