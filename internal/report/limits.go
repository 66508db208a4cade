package report

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
)

// limitsIn is what a number may change by, and what bounds it: "3 %, min 0.62, max 8.1".
func limitsIn(v *gate.Verdict) inline {
	var list []string
	e := &v.Evidence
	if e.Test != "" {
		list = append(list, e.Test)
	}
	if ofSpeed(v) && (e.Test == "" || e.Limit > 0) || v.Class == gate.OperatorsDiffer {
		list = append(list, bare(e.Limit))
	}
	if e.Min != nil {
		list = append(list, "min "+fmt.Sprint(*e.Min))
	}
	if e.Max != nil {
		list = append(list, "max "+fmt.Sprint(*e.Max))
	}
	if list == nil {
		return none
	}
	return only(plain(strings.Join(list, ", ")))
}
