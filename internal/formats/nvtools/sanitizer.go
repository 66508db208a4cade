package nvtools

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Sanitizer is what Compute Sanitizer has found.
type Sanitizer struct {
	Errors   int       `json:"errors"`             // by the tool's own sum
	Findings []Finding `json:"findings,omitempty"` // the first ones
	// Complete means that the tool has summed up. Without that it was ended, or never
	// began.
	Complete bool `json:"complete"`
}

// Finding is one error, such as "Invalid __global__ write of size 4 bytes".
type Finding struct {
	Message string   `json:"message"`
	At      string   `json:"at,omitempty"`      // kernel and place
	Details []string `json:"details,omitempty"` // thread, address
}

const mark = "========="

// ReadSanitizer reads the text of "compute-sanitizer --tool memcheck"
// (docs.nvidia.com/compute-sanitizer/ComputeSanitizer, "memcheck_demo Output"). Lines
// of the program stand between those of the tool, which begin with a mark.
func ReadSanitizer(data []byte) (Sanitizer, error) {
	if len(data) > MaxBytes {
		return Sanitizer{}, fmt.Errorf("compute-sanitizer: the report has more than %d bytes: lower the print limit", MaxBytes)
	}
	var s Sanitizer
	var now *Finding
	for line := range bytes.Lines(data) {
		rest, found := strings.CutPrefix(strings.TrimRight(string(line), "\r\n"), mark)
		if !found {
			continue
		}
		indented := strings.HasPrefix(rest, "  ")
		message := strings.TrimSpace(rest)
		switch {
		case message == "":
			now = nil
		case indented:
			now.add(message)
		case heading(message): // also the second "ERROR SUMMARY:", of errors that were not printed
			now = nil
		case strings.HasPrefix(message, "ERROR SUMMARY:"):
			n, err := sum(message)
			if err != nil {
				return s, err
			}
			s.Errors, s.Complete, now = s.Errors+n, true, nil // each process has a sum
		default:
			now = nil
			if len(s.Findings) < maxNotes {
				s.Findings = append(s.Findings, Finding{Message: short(message)})
				now = &s.Findings[len(s.Findings)-1]
			}
		}
	}
	return s, nil
}

// heading reports lines that are no finding.
func heading(message string) bool {
	for _, begin := range []string{"COMPUTE-SANITIZER", "LEAK SUMMARY", "RACECHECK SUMMARY", "Target application", "Process", "Error: process", "Saved "} {
		if strings.HasPrefix(message, begin) {
			return true
		}
	}
	return strings.Contains(message, "were not printed") || strings.Contains(message, "was not printed")
}

// add takes a line below a finding. Frames of the host's stack are left out.
func (f *Finding) add(line string) {
	switch {
	case f == nil || strings.HasPrefix(line, "Host Frame") || strings.HasPrefix(line, "Saved host backtrace"):
	case f.At == "" && strings.HasPrefix(line, "at "):
		f.At = short(strings.TrimPrefix(line, "at "))
	case len(f.Details) < maxNotes:
		f.Details = append(f.Details, short(line))
	}
}

// sum reads "ERROR SUMMARY: 2 errors".
func sum(message string) (int, error) {
	fields := strings.Fields(strings.TrimPrefix(message, "ERROR SUMMARY:"))
	if len(fields) > 0 {
		if n, err := strconv.ParseUint(strings.ReplaceAll(fields[0], ",", ""), 10, 31); err == nil {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("compute-sanitizer: its sum %.80q has no number: see that nothing else writes to the file", message)
}
