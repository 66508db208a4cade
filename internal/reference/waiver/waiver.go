// Package waiver reads and edits waivers.yml: the regressions that people
// accept for a while, each for one metric of one cell, up to a ceiling, until a
// day, for a reason. It reads quarantine.yml as well: flaky cells that do not block
// until a day. It says what is written there; package gate says what that
// means for a run.
package waiver

import (
	"fmt"
	"math"
	"time"
)

// FileName is the file's name beside accelgate.yaml, unless that names another.
const FileName = "waivers.yml"

// The bounds of a waiver.
const (
	MaxCeiling = 1000.0 // percent: eleven times as slow
	MaxDays    = 366    // from today to the last day
)

// Entry is one waiver.
type Entry struct {
	Cell   string `json:"cell"`           // id, exactly
	Metric string `json:"metric"`         // exactly
	Host   string `json:"host,omitempty"` // label; "" is every host
	// Ceiling is how much worse the metric may be than the reference, in
	// percent, inclusively; above 0 and at most [MaxCeiling].
	Ceiling float64 `json:"ceiling"`
	Expires Date    `json:"expires"` // the last day on which it holds
	Reason  string  `json:"reason"`
	Issue   string  `json:"issue,omitempty"`
	By      string  `json:"by,omitempty"`
	// Source is the file and line of the entry, "waivers.yml:3".
	Source string `json:"source,omitempty"`
}

// key is what two waivers of one file may not share.
type key struct{ cell, metric, host string }

func (e *Entry) key() key { return key{e.Cell, e.Metric, e.Host} }

// Date is a day in UTC, counted from 1970-01-01.
type Date int64

// DaysLeft is the number of days after today on which an entry that expires on d still holds:
// 0 on its last one, and negative after that.
func (d Date) DaysLeft(today Date) int { return int(d - today) }

// Holds reports whether an entry that expires on d is in force. One that expires later than
// [MaxDays] from today is not, so that a clock which stands still accepts nothing.
func (d Date) Holds(today Date) bool { return d >= today && d.DaysLeft(today) <= MaxDays }

// DateOf returns the day of a time.
func DateOf(t time.Time) Date { return Date(math.Floor(float64(t.Unix()) / (24 * 60 * 60))) }

// String returns 2026-01-31.
func (d Date) String() string { return time.Unix(int64(d)*24*60*60, 0).UTC().Format(time.DateOnly) }

// MarshalText returns what String does.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 2026-01-31.
func (d *Date) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("%.60q is not a day; write it as 2026-01-31", text)
	}
	*d = DateOf(t)
	return nil
}
