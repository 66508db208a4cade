package runner

import (
	"reflect"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

func TestJoinHealth(t *testing.T) {
	health := func(status bench.HealthStatus, reasons ...string) *bench.Health {
		return &bench.Health{Status: status, Reasons: reasons}
	}
	well, sick, unseen := health(bench.Healthy), health(bench.Unhealthy, "hot"), health(bench.HealthUnknown, "no tool", "hot")
	for _, test := range []struct{ old, more, want *bench.Health }{
		{nil, nil, nil},
		{nil, well, well},
		{sick, nil, sick},
		{well, well, well},
		{well, unseen, unseen},
		{unseen, well, unseen},
		{sick, well, sick},
		{sick, unseen, health(bench.Unhealthy, "hot", "no tool")},
		{unseen, sick, health(bench.Unhealthy, "no tool", "hot")},
	} {
		if got := joinHealth(test.old, test.more); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v and %+v are %+v, want %+v", test.old, test.more, got, test.want)
		}
	}
}

func TestJoinReadings(t *testing.T) {
	a := &bench.Health{Status: bench.Healthy, Readings: []bench.Reading{{Name: "power", N: 1, Min: 10, Mean: 10, Max: 10}}}
	b := &bench.Health{Status: bench.Healthy, Readings: []bench.Reading{{Name: "power", N: 3, Min: 12, Mean: 14, Max: 15}, {Name: "clock", N: 1, Min: 1, Mean: 1, Max: 1}}}
	want := []bench.Reading{{Name: "power", N: 4, Min: 10, Mean: 13, Max: 15}, {Name: "clock", N: 1, Min: 1, Mean: 1, Max: 1}}
	if got := joinHealth(a, b).Readings; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if a.Readings[0].N != 1 {
		t.Error("what an earlier round said was changed")
	}
}
