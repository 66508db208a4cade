package interchange

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/github/actions"
	"github.com/accelgate/accelgate/internal/report"
)

// maxAnnotations is one less than GitHub shows of each level in a step; the last one is
// the decision.
const maxAnnotations = 9

// Annotations writes workflow commands that annotate the line of the configuration where
// the suite of each finding begins, the worst findings first, and then the decision. A
// configuration outside of the working folder has no line that GitHub could show.
func Annotations(w io.Writer, r report.Report) error {
	head := r.Head()
	path := ""
	if filepath.IsLocal(head.Config) {
		path = filepath.ToSlash(filepath.Clean(head.Config))
	}
	shown := map[report.Severity]int{}
	for _, f := range r.Findings(maxAnnotations) {
		level := f.Severity()
		if shown[level]++; shown[level] > maxAnnotations {
			continue
		}
		a := actions.Annotation{Title: title(f), Message: f.Message, Path: path, Line: f.Line}
		if _, err := fmt.Fprintln(w, a.Command(string(level))); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, actions.Annotation{Title: "accelgate", Message: r.Title()}.Command(string(r.Severity())))
	return err
}
