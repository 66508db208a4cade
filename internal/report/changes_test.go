package report_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/report"
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

// refreshed is a Refresh of case files too.
func refreshed(s string, files int) report.Refresh {
	r := refresh(s, 3)
	for i := range files {
		r.Files = append(r.Files, report.FileChanges{Path: fmt.Sprintf("cases/case-%03d%s.json", files-i, s), Noun: "case", Name: "case" + s, Host: "linux-cuda" + s,
			Changes: []report.FileChange{{"$.baseline_time_s" + s, "0.05670", "0.0532440"}, {"$.operators[0].total_time_s", "1e-3" + s, "2e-3"},
				{"$.operators[0].num_calls", "92", "91"}, {"$.operators[1].total_time_s", "", "0.25" + s}, {"$.operators[2].total_time_s", "0.5" + s, ""}}})
	}
	r.Left = []string{"case-a" + s + " was not refreshed because its answer is wrong.", s + "!"}
	return r
}

func TestChangesOfCasesGolden(t *testing.T) {
	title, body := report.Changes(refreshed("", 3))
	golden(t, filepath.Join("testdata", "changes_cases.md"), title+"\n\n"+body)
	skeleton(t, body)
}

func TestChangesOfCasesAreHarmless(t *testing.T) {
	_, body := report.Changes(refreshed("x", 2))
	want := skeleton(t, body)
	for _, evil := range hostile {
		title, body := report.Changes(refreshed("x"+evil+"x", 2))
		checkPlain(t, title)
		if diff := cmp.Diff(want, skeleton(t, body)); diff != "" {
			t.Errorf("%q changes the structure (-want +got):\n%s", evil, diff)
		}
	}
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
	both := refreshed("", 3)
	cases := both
	cases.Hosts = nil
	one.Files = both.Files[:1]
	for want, r := range map[string]report.Refresh{
		"Refresh the baselines of 2 hosts":                      refresh("", 1),
		"Refresh the baselines of 2 hosts and 3 cases":          both,
		"Refresh 3 cases":                                       cases,
		"Refresh the baseline of linux<U+202E>-cuda and 1 case": one,
		"Refresh the baselines of 0 hosts":                      {},
	} {
		if got, _ := report.Changes(r); got != want {
			t.Errorf("title %q, want %q", got, want)
		}
	}
}

// TestChangesOfManyCases shows 50 files and counts the others, and keeps to
// every limit.
func TestChangesOfManyCases(t *testing.T) {
	in := refreshed("", 2000)
	_, body := report.Changes(in)
	if n := strings.Count(body, "\n**Case** "); n != 50 || !strings.Contains(body, "… and 1950 more files\n") {
		t.Errorf("%d files are shown", n)
	}
	if i, k := strings.Index(body, "case-001"), strings.Index(body, "case-002"); i < 0 || i > k {
		t.Error("files are not in the order of their paths")
	}
	in.Left = slices.Repeat(in.Left, 1000)
	for _, limit := range []int{100, 1000, 3_000, 6_000, 12_000, 60_000} {
		in.Limit = limit
		if _, body := report.Changes(in); len(body) > max(limit, 1000) {
			t.Errorf("limit %d: %d bytes", limit, len(body))
		} else {
			skeleton(t, body)
		}
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
			t.Errorf("limit %d: does not state what was left out", limit)
		}
		skeleton(t, body)
	}
}
