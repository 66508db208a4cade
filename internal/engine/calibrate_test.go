package engine_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/engine"
)

// TestCalibrate: of nine passes, which take 1, 3, ... 17 s here, the median counts.
func TestCalibrate(t *testing.T) {
	var out, log bytes.Buffer
	calls := 0
	c := engine.Command{Stdout: &out, Stderr: &log, Now: func() time.Time {
		calls++ // 0, 1 s, 3 s, 6 s, ...
		return time.Unix(int64(calls*(calls-1)/2), 0)
	}}
	if code := c.Calibrate(t.Context(), nil); code != engine.ExitOK {
		t.Fatalf("exit %d: %s", code, log.String())
	}
	var got engine.Calibration
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.MS != 9000 {
		t.Errorf("%s: %v", out.String(), err)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--runs", "3"}, engine.ExitUsage, "it takes none"},
		{nil, engine.ExitFailure, "clock stands still"},
	} {
		var log bytes.Buffer
		c := engine.Command{Stdout: new(bytes.Buffer), Stderr: &log, Now: func() time.Time { return time.Unix(1, 0) }}
		if code := c.Calibrate(t.Context(), test.args); code != test.code || !strings.Contains(log.String(), test.says) {
			t.Errorf("exit %d: %s", code, log.String())
		}
	}
}
