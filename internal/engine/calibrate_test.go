package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestCalibrate: the command prints as many times as were taken, and their median.
func TestCalibrate(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	var out, log bytes.Buffer
	calls := 0
	c := engine.Command{Stdout: &out, Stderr: &log, Now: func() time.Time {
		calls++
		return time.Unix(int64(calls), 0)
	}}
	if code := c.Calibrate(t.Context(), nil); code != engine.ExitOK {
		t.Fatalf("exit %d: %s", code, log.String())
	}
	var got engine.Calibration
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got.Times) != 15 || got.MS < 1000 || slices.Min(got.Times) < 1000 {
		t.Errorf("%s: %v", out.String(), err)
	}
}

// TestCalibratorWarmsUp: passes in which a processor wakes up do not count.
func TestCalibratorWarmsUp(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	calls, now := 0, time.Unix(0, 0)
	times := engine.NewCalibrator(1).Times(t.Context(), func() time.Time {
		if calls++; calls <= 2*12 {
			now = now.Add(time.Minute)
		}
		now = now.Add(time.Millisecond)
		return now
	})
	if len(times) != 15 || slices.Min(times) != 1 || slices.Max(times) != 1 {
		t.Errorf("%v", times)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if times := engine.NewCalibrator(1).Times(ctx, time.Now); times != nil {
		t.Errorf("cancelled: %v", times)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
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
