package measure

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/reference"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// TestSchemaStatesTheDefaults: the schema's numbers are those that an absent key stands for.
func TestSchemaStatesTheDefaults(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../schema/accelgate.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		Default    any
		Properties map[string]node
	}
	var root node
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{
		"baselines":           reference.DefaultFolder,
		"limits.lease":        strings.TrimSuffix(defaultLeaseWait.String(), "0s"),
		"policy.false_alarms": fmt.Sprintf("%v%%", 100*detect.DefaultFalseAlarms),
		"policy.history_keep": history.MaxRuns,
		"policy.implausible":  gate.DefaultImplausible,
		"policy.remeasure":    defaultRemeasure,
		"policy.threshold":    fmt.Sprintf("%v%%", gate.DefaultPolicy().Threshold),
	} {
		n := root
		for _, key := range strings.Split(path, ".") {
			n = n.Properties[key]
		}
		if fmt.Sprint(n.Default) != fmt.Sprint(want) {
			t.Errorf("%s: the schema's default is %v, the program's %v", path, n.Default, want)
		}
	}
}
