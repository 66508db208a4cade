package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRelation(t *testing.T) {
	for text, want := range map[string]Relation{
		"ms / ms[mode=eager]":        {Terms: [2]Term{{Metric: "ms"}, {Metric: "ms", Cell: [][2]string{{"mode", "eager"}}}}},
		"tps[tp=8, model=a/b] - tps": {Terms: [2]Term{{Metric: "tps", Cell: [][2]string{{"tp", "8"}, {"model", "a/b"}}}, {Metric: "tps"}}, Difference: true},
		"acc,none - a-b":             {Terms: [2]Term{{Metric: "acc,none"}, {Metric: "a-b"}}, Difference: true},
	} {
		var got Relation
		if err := got.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		want.Text = text
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for _, text := range []string{"", "ms", "ms/ms", "a / b / c", "a / b - c", "a[x=1] / a[x=2]", "a / b[x]", "a / b[x=]", "a / b[x=1", "a < b", " / b", "a / [x=1]"} {
		var got Relation
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "write for example") {
			t.Errorf("%q: %v, %+v", text, err, got)
		}
	}
}
