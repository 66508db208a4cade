package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

var (
	// diagnosis is in lines of compilers: FILE:LINE:COLUMN: TEXT, javac's FILE:LINE: error: TEXT, FILE(LINE): error TEXT of MSVC and
	// nvcc, Rust's error[CODE]: TEXT, and what linkers do not find.
	diagnosis = lazyregexp.New(`^\S[^:]*:\d+:\d+: |^\S[^:]*:\d+: error: |^\S.*\(\d+(,\d+)?\): (fatal )?error[ :]|` +
		`^error(\[E\d+\])?: |: undefined reference to `)
	// harmless is in lines of compilers that say more of another one, and in the last line of cargo.
	harmless = lazyregexp.New(`: (warning|note|remark): |^error: (could not compile|aborting due to)`)
	// fault is in lines that name a cause, whichever the program's language.
	fault = lazyregexp.New(
		`(?i)error|exception|panic|fatal|assert|fail|abort|cannot|can't|could not|unable|denied|no such|not found|invalid|unsupported|refused|exceeded|terminat|out of memory|segmentation|killed`,
	)
	// frames are lines of a stack, notes about it, the words of shells, make, cmake, compilers, pytest and go test
	// about an end that they did not cause, and names and results of Go's benchmarks.
	frames = lazyregexp.New(`^(\s+at |\s*File "|\s*#\d+ |goroutine \d+|\s*\S+\(.*\)$|\s+\S+:\d+( \+0x[0-9a-f]+)?$|` +
		`note: |stack backtrace|Traceback |exit status \d+|exit code \d+|created by |` +
		`make(\[\d+\])?: |-- Configuring incomplete|collect2: |\d+ errors?\b|(ERROR|FAILED) \S+$|` +
		`\[New LWP|\[\d+\]\s|={3,}|-{3,}|!{3,}|(FAIL|PASS|ok)(\s|$)|Benchmark\S*(\s+\d+\s.*)?$)`)
)

// Meaningful returns the line of a log that names a cause: the first error of a compiler, as those below follow
// from it; else the last line that names one; without any, the last that holds words; "" if there is none.
// Lines are trimmed, and otherwise as they were printed.
func Meaningful(lines []string) string {
	for _, line := range lines {
		if diagnosis.MatchString(line) && !harmless.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	last := ""
	for _, line := range slices.Backward(lines) {
		if frames.MatchString(line) || strings.IndexFunc(line, unicode.IsLetter) < 0 {
			continue
		}
		line = strings.TrimSpace(line)
		if fault.MatchString(line) {
			return line
		}
		last = cmp.Or(last, line)
	}
	return last
}
