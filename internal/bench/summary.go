package bench

import "github.com/accelgate/accelgate/internal/stats"

// Summarize returns the recorded summary, or a summary of the values.
func (s *Sample) Summarize() Summary {
	if s.Summary != nil {
		return *s.Summary
	}
	return Summary{Median: stats.Median(s.Values), MAD: stats.MAD(s.Values), N: len(s.Values)}
}
