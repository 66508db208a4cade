package waiver_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference/waiver"
)

const quarantineToday = waiver.Date(20_454) // 2026-01-01

func TestReadQuarantine(t *testing.T) {
	got, err := waiver.ReadQuarantine("q.yml", []byte("- {cell: a, owner: octocat, expires: 2026-01-31, reason: flaky}\n- {cell: a, host: h, owner: octocat, expires: 2025-01-01, reason: r, issue: i}\n"), quarantineToday)
	want := []waiver.Quarantined{{Cell: "a", Owner: "octocat", Expires: quarantineToday + 30, Reason: "flaky", Source: "q.yml:1"},
		{Cell: "a", Host: "h", Owner: "octocat", Expires: quarantineToday - 365, Reason: "r", Issue: "i", Source: "q.yml:2"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for text, want := range map[string]string{
		"- {cell: a, expires: 2026-01-31, reason: r}\n":                                "q.yml:1:3: [0]: owner is missing",
		"- {cell: a, owner: \"\", expires: 2026-01-31, reason: r}\n":                   "q.yml:1:20: [0].owner: is empty",
		"- {cell: a, owner: o, expires: 2027-02-01, reason: r}\n":                      "q.yml:1:32: [0].expires: 2027-02-01 is 396 days ahead; write a day until 2027-01-02",
		"- {cell: a, owner: o, expires: soon, reason: r}\n":                            "[0].expires: ",
		"- {cell: a, owner: \"o\\u202e\", expires: 2026-01-31, reason: r}\n":           "[0].owner: holds control or invisible characters",
		"- {cell: a, metric: m, owner: o, expires: 2026-01-31, reason: r}\n":           "unknown key \"metric\"",
		"- &q {cell: a, owner: o, expires: 2026-01-31, reason: r}\n- *q\n":             "this cell and host are quarantined at line 1",
		strings.Repeat("- {cell: a, owner: o, expires: 2026-01-31, reason: r}\n", 501): "501 quarantined cells are more than 500",
	} {
		if _, err := waiver.ReadQuarantine("q.yml", []byte(text), quarantineToday); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

func FuzzReadQuarantine(f *testing.F) {
	for _, seed := range []string{"", "[]", "# none\n", "- {cell: a, owner: o, expires: 2026-01-31, reason: r}\n", "- cell: a\n", "- &a {cell: a, owner: o, expires: 2026-01-01, reason: c}\n- *a\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := waiver.ReadQuarantine("q.yml", data, quarantineToday)
		if err != nil {
			if _, ok := err.(config.Errors); !ok || strings.ContainsAny(err.Error(), "\x1b\u202e") {
				t.Errorf("%q, want config.Errors without control characters", err)
			}
			return
		}
		for _, q := range list {
			if q.Cell == "" || q.Owner == "" || q.Reason == "" || q.Expires.DaysLeft(quarantineToday) > waiver.MaxDays {
				t.Errorf("accepted %+v", q)
			}
		}
	})
}
