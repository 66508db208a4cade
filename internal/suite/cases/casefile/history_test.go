package casefile_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

func TestAppendHistory(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 21, 14, 0, 0, 5, time.FixedZone("", 2*3600))
	record := casefile.Record{Time: now, Case: "wän2.2", Reason: "new <kernel>\nfor all", Revision: "84fec85", Tool: "accelgate 1.0", Host: "linux-cuda",
		Changes: []casefile.Change{{JSONPath: "initial_time_s", Old: "0.1", New: "0.2"}}}
	const line = `{"time":"2026-08-21T12:00:00Z","case":"wän2.2","reason":"new <kernel>\nfor all","revision":"84fec85","tool":"accelgate 1.0","host":"linux-cuda","changes":[{"path":"initial_time_s","old":"0.1","new":"0.2"}]}` + "\n"
	const short = `{"time":"2026-08-21T12:00:00Z","case":"c","reason":"r","revision":"","tool":"","host":"","changes":[]}` + "\n"
	bare := casefile.Record{Time: now, Case: "c", Reason: "r"}
	for _, test := range []struct {
		old     string
		records []casefile.Record
		want    string
	}{
		{"", []casefile.Record{record, bare}, line + short},
		{"{}\r\n", []casefile.Record{bare}, "{}\r\n" + short},
		{"no JSON \xff", []casefile.Record{bare}, "no JSON \xff\n" + short},
		{"{}", nil, "{}"},
	} {
		old := make([]byte, len(test.old), 4096) // appending in place would show
		copy(old, test.old)
		got, err := casefile.AppendHistory(old, test.records)
		if err != nil || string(got) != test.want {
			t.Errorf("got %q, %v, want %q", got, err, test.want)
		}
		if spare := old[len(old):4096]; strings.Trim(string(spare), "\x00") != "" {
			t.Error("the old history's memory was written")
		}
	}
}

func TestAppendHistoryErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		old    string
		record casefile.Record
		want   string
	}{
		{"", casefile.Record{Reason: "r"}, "record a refresh: it is of no case: name the case"},
		{"", casefile.Record{Case: "c", Reason: " \n"}, `record the refresh of "c": it has no reason: say why the numbers change`},
		{"", casefile.Record{Case: "c", Reason: strings.Repeat("x", 2001)}, `record the refresh of "c": its reason is longer than 2000 bytes: shorten it`},
		{"", casefile.Record{Case: "c", Reason: "r", Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, `record the refresh of "c": its time is in the year 10000: correct the clock`},
		{strings.Repeat("x", 32<<20), casefile.Record{Case: "c", Reason: "r"}, "history.jsonl would be larger than 33554432 bytes: move it away, and the next refresh begins a new one"},
	} {
		if _, err := casefile.AppendHistory([]byte(test.old), []casefile.Record{test.record}); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

func FuzzAppendHistory(f *testing.F) {
	f.Add([]byte("{}\n"), "c", "reason", "old")
	f.Add([]byte("x"), "c\n", "\u2028 \xff", "\n")
	f.Fuzz(func(t *testing.T, old []byte, name, reason, value string) {
		got, err := casefile.AppendHistory(old, []casefile.Record{{Case: name, Reason: reason, Changes: []casefile.Change{{Old: value}}}})
		if err != nil {
			return
		}
		added, kept := strings.CutPrefix(string(got), string(old))
		added = strings.TrimPrefix(added, "\n")
		var record casefile.Record
		if !kept || strings.Count(added, "\n") != 1 || json.Unmarshal([]byte(added), &record) != nil || strings.TrimSpace(record.Reason) == "" {
			t.Errorf("got %q after %q", got, old)
		}
	})
}
