package interchange

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// The elements of JUnit's XML that Jenkins' schema, junit-10.xsd of its xUnit plugin, has.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		counts
		Suites []suite `xml:"testsuite"`
	}
	suite struct {
		Name      string `xml:"name,attr"`
		Timestamp string `xml:"timestamp,attr,omitempty"` // when the run began
		Skipped   int    `xml:"skipped,attr"`
		counts
		Cases []testcase `xml:"testcase"`
	}
	counts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr,omitempty"` // seconds
		Skipped *outcome `xml:"skipped"`
		Error   *outcome `xml:"error"`
		Failure *outcome `xml:"failure"`
		Output  string   `xml:"system-out,omitempty"`
	}
	outcome struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a test suite for each host and a test case for each cell. A cell of which a
// finding blocks is a failure, or an error if it did not run to the end. What else is not
// unchanged is its output, the worst first. The suite accelgate has one case, the decision, which fails
// exactly where the command exits with another code than 0.
func JUnit(w io.Writer, r report.Report) error {
	all := suites{Name: "accelgate"}
	for c := range r.Cells() {
		last := len(all.Suites) - 1
		if last < 0 || all.Suites[last].Name != c.Host {
			all.Suites, last = append(all.Suites, suite{Name: c.Host, Timestamp: timestamp(c.Started)}), last+1
		}
		all.Suites[last].add(caseOf(c))
	}
	decision := testcase{Class: "accelgate", Name: "decision"}
	if d := r.Head().Decision; d.Code() != 0 {
		decision.Failure = &outcome{Type: string(d.Status), Message: r.Title()}
	} else if d.Status != gate.StatusPassed {
		decision.Output = r.Title()
	}
	gate := suite{Name: "accelgate", Timestamp: timestamp(r.Head().Now)}
	gate.add(decision)
	all.Suites = append(all.Suites, gate)
	for i := range all.Suites {
		all.sum(all.Suites[i].counts)
	}
	return writeXML(w, &all)
}

func writeXML(w io.Writer, document any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(document); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (c *counts) sum(other counts) {
	c.Tests, c.Failures, c.Errors = c.Tests+other.Tests, c.Failures+other.Failures, c.Errors+other.Errors
}

func (s *suite) add(t testcase) {
	s.Cases = append(s.Cases, t)
	s.Tests++
	switch {
	case t.Failure != nil:
		s.Failures++
	case t.Error != nil:
		s.Errors++
	case t.Skipped != nil:
		s.Skipped++
	}
}

func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

func caseOf(c report.Cell) testcase {
	t := testcase{Class: c.Host, Name: c.ID}
	if c.Suite != "" {
		t.Class += "." + c.Suite
	}
	if c.ID == "" {
		t.Name = "host"
	}
	if c.Seconds > 0 {
		t.Time = strconv.FormatFloat(c.Seconds, 'f', 3, 64)
	}
	var blocking, shown []report.Finding
	broken, skipped := false, false
	for _, f := range c.Findings {
		switch {
		case f.Blocks:
			blocking, broken = append(blocking, f), broken || f.Finding == gate.Crashed
		case f.Listed:
			shown, skipped = append(shown, f), skipped || f.Finding == gate.Skipped || f.LeftOut
		}
	}
	switch {
	case broken:
		t.Error = outcomeOf(blocking)
	case len(blocking) > 0:
		t.Failure = outcomeOf(blocking)
	case skipped:
		t.Skipped = outcomeOf(shown)
		t.Skipped.Type = ""
		return t
	}
	t.Output = lines(shown)
	return t
}

// outcomeOf has the first finding as its message, and all as its text.
func outcomeOf(findings []report.Finding) *outcome {
	return &outcome{Type: string(findings[0].Finding), Message: line(findings[0]), Text: lines(findings)}
}

func lines(findings []report.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, line(f))
	}
	return strings.Join(all, "\n")
}

func line(f report.Finding) string { return strings.TrimPrefix(f.Metric+": "+f.Message, ": ") }
