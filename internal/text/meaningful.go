package text

import (
	"slices"
	"strings"
	"unicode"

	"github.com/accelgate/accelgate/internal/lazyregexp"
)

var (
	// fault is in lines that name a cause, whichever the program's language.
	fault = lazyregexp.New(`(?i)error|exception|panic|fatal|assert|fail|abort|cannot|can't|could not|unable|denied|no such|not found|invalid|unsupported|refused|exceeded|terminat|out of memory|segmentation|killed`)
	// frames are lines of a stack, notes about it, and the words of shells and make
	// about an end that they did not cause.
	frames = lazyregexp.New(`^(\s+at |\s*File "|\s*#\d+ |goroutine \d+|\s*\S+\(.*\)$|\s+\S+:\d+( \+0x[0-9a-f]+)?$|note: |stack backtrace|Traceback |exit status \d+|exit code \d+|created by |make(\[\d+\])?: |\[New LWP|\[\d+\]\s|={3,}|-{3,})`)
)

// Meaningful returns the last line of a log that names a cause; without one, the last
// that holds words; "" if there is none. Lines are trimmed, and otherwise as they were printed.
func Meaningful(lines []string) string {
	last := ""
	for _, line := range slices.Backward(lines) {
		if frames.MatchString(line) || strings.IndexFunc(line, unicode.IsLetter) < 0 {
			continue
		}
		line = strings.TrimSpace(line)
		if fault.MatchString(line) {
			return line
		}
		if last == "" {
			last = line
		}
	}
	return last
}
