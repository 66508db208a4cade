package record

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// TestImplausibleTimesAreRecorded: a refresh of case files, by each of its three ways,
// wrote times that are a hundred times those before without being forced.
func TestImplausibleTimesAreRecorded(t *testing.T) {
	t.Parallel()
	policy := gate.DefaultPolicy()
	fresh := func(seconds float64) *float64 { return &seconds }
	for _, c := range []struct {
		name              string
		initial, baseline float64
		refresh           casefile.Refresh
		want              string
	}{
		{"twice", 1, 1, casefile.Refresh{BaselineTimeS: fresh(2)}, ""},
		{"slower", 1, 1, casefile.Refresh{BaselineTimeS: fresh(101)}, "factor of 101"},
		{"faster", 1, 1, casefile.Refresh{BaselineTimeS: fresh(0.009)}, "factor of 111"},
		{"than the initial time", 1, 0, casefile.Refresh{BaselineTimeS: fresh(101)}, "factor of 101"},
		{"a new initial time", 1, 150, casefile.Refresh{BaselineTimeS: fresh(150), InitialTimeS: fresh(150)}, "factor of 150"},
		{"the first time", 0, 0, casefile.Refresh{BaselineTimeS: fresh(1000), InitialTimeS: fresh(1000)}, ""},
		{"operators alone", 1, 1, casefile.Refresh{}, ""},
	} {
		one := &casefile.Case{InitialTimeS: c.initial, BaselineTimeS: c.baseline}
		e := CaseEdits{Policy: UnlessForced(false, &policy)}
		if why := e.implausible(one, &c.refresh); (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, want %q", c.name, why, c.want)
		}
		e.Policy = UnlessForced(true, &policy)
		if why := e.implausible(one, &c.refresh); why != "" {
			t.Errorf("%s, forced: %q", c.name, why)
		}
	}
}
