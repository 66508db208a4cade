package actions

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sethvargo/go-githubactions"
)

const (
	// maxSummary is the size above which the runner drops a step's summary
	// altogether (AttachmentSizeLimit in
	// src/Runner.Worker/FileCommandManager.cs).
	maxSummary = 1 << 20
	// maxOutput keeps one output within what GitHub allows a job to pass on.
	maxOutput = 1 << 20
)

// SetOutput sets an output of the step. The value may be any text up to 1 MiB;
// the name consists of letters, digits, "-" and "_".
//
// The value stands between two lines of a random delimiter, so it cannot end
// early and set further outputs. The fixed delimiter that go-githubactions
// uses could be written by a hostile value.
func (a *Action) SetOutput(name, value string) error {
	if !validName(name) {
		return fmt.Errorf("set output %s: not a name; use letters, digits, %q and %q", quote(name), '-', '_')
	}
	if len(value) > maxOutput {
		return fmt.Errorf("set output %s: %d bytes are more than the %d allowed; write a file and pass its path", name, len(value),
			maxOutput)
	}
	if a.getenv("GITHUB_OUTPUT") == "" {
		return fmt.Errorf("set output %s: GITHUB_OUTPUT is not set; run as a step of a workflow", name)
	}
	delimiter := "accelgate_" + rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	err := protect(func() {
		a.lib.IssueFileCommand(&githubactions.Command{Name: "output", Message: name + "<<" + delimiter + "\n" + value + "\n" + delimiter})
	})
	if err != nil {
		return fmt.Errorf("set output %s: %w; check that GITHUB_OUTPUT names a writable file", name, err)
	}
	return nil
}

func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return name != "" && len(name) <= 100
}

// Summary appends Markdown to the summary of the job. It reports ok == false
// without an error where there is no summary to write to, as on a desk.
//
// The summary of one step is limited to 1 MiB, above which the runner drops it
// altogether. Longer text is cut at the end of a line, and its first line then
// says what was left out: a note at the cut could end up inside of a code
// fence or a folded section.
func (a *Action) Summary(md string) (ok bool, err error) {
	path := a.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return false, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	room := maxSummary - 1 // for the line end that is added
	if info, err := os.Stat(path); err == nil {
		room -= int(min(info.Size(), maxSummary))
	} else if !errors.Is(err, os.ErrNotExist) {
		return false, fmt.Errorf("write job summary: %w; check that GITHUB_STEP_SUMMARY names a file", err)
	}
	text, fits := fit(strings.ToValidUTF8(md, "\ufffd"), room)
	if !fits {
		return false, fmt.Errorf("write job summary: %d bytes are left of %d; write less in the same step", room, maxSummary)
	}
	err = protect(func() {
		a.lib.IssueFileCommand(&githubactions.Command{Name: "step-summary", Message: text})
	})
	if err != nil {
		return false, fmt.Errorf("write job summary: %w; check that GITHUB_STEP_SUMMARY names a writable file", err)
	}
	return true, nil
}

// fit cuts md at the end of a line so that it takes at most room bytes, note
// included.
func fit(md string, room int) (text string, ok bool) {
	if len(md) <= room {
		return md, true
	}
	const note = "> **Cut short.** GitHub shows at most 1 MiB; the last %d of %d lines were left out here. The full report is kept with the run's files.\n\n"
	lines := strings.Count(md, "\n") + 1
	keep := room - len(fmt.Sprintf(note, lines, lines))
	if keep <= 0 {
		return "", false
	}
	kept := md[:strings.LastIndexByte(md[:keep], '\n')+1]
	return fmt.Sprintf(note, lines-strings.Count(kept, "\n"), lines) + kept, true
}
