package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Lengths in runes that untrusted strings are cut to. JSON keeps all.
const (
	maxName   = 160
	maxReason = 500
)

// visible makes one line of printable text of s. Controls, bidi and zero-width
// characters, every space but the common one and invalid bytes become a name
// such as <U+202E> or <0xFF>. So does the bracket of "##[", which GitHub's
// runner takes for a command anywhere in a line of a log.
func visible(s string) string {
	if text.Printable(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case r == '\n':
			b.WriteString(" ⏎ ")
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case r == '\t':
			b.WriteByte(' ')
		case r == '[' && strings.HasSuffix(s[:i], "##"), !unicode.IsPrint(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// shorten cuts s in the middle, where names differ least.
func shorten(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	head, tail := (limit-1)/2, limit-1-(limit-1)/2
	from, to := 0, len(s)
	for range head {
		_, size := utf8.DecodeRuneInString(s[from:])
		from += size
	}
	for range tail {
		_, size := utf8.DecodeLastRuneInString(s[:to])
		to -= size
	}
	return s[:from] + "…" + s[to:]
}

// clip is shorten, then visible, then shorten again for what visible added.
func clip(s string, limit int) string { return shorten(visible(shorten(s, limit)), limit) }

func name(s string) string { return clip(s, maxName) }

// escapeText writes s so that Markdown and GitHub read nothing into it. It
// belongs inside a line or a table cell, never at the start of a line.
//
// Entities stop Markdown. They do not stop what GitHub does afterwards on the
// rendered text: mentions, issue and commit links, and emoji. A zero-width
// space stops those.
func escapeText(s string) string {
	const gap = "&#8203;"
	s = visible(s)
	var b strings.Builder
	hex := 0
	for i, r := range s {
		switch {
		case !isHex(r):
			hex = 0
		case hex == 6: // seven in a row could be a commit
			b.WriteString(gap)
			hex = 1
		default:
			hex++
		}
		next := strings.TrimPrefix(s[i:], string(r))
		switch {
		case strings.ContainsRune("&<>|`*_[]~$\\^#", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
		switch {
		case r == '@' || r == '#',
			r == ':' && next != "" && next[0] != ' ',
			r == '.' && hasSuffixFold(s[:i], "www"),
			r == '-' && hasSuffixFold(s[:i], "gh"):
			b.WriteString(gap)
		}
	}
	return b.String()
}

func isHex(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F'
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// escapeCode writes s as a code span, in which GitHub links and mentions
// nothing. The backticks around it outnumber any run of them inside.
func escapeCode(s string) string {
	s = visible(s)
	if strings.Trim(s, " ") == "" {
		return "–"
	}
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// escapeCodeCell is escapeCode inside a table, where a bar ends the cell even
// within code unless a backslash precedes it. Whether a backslash can itself be
// escaped there depends on the parser, so that pair is spelt out.
func escapeCodeCell(s string) string {
	s = strings.ReplaceAll(visible(s), `\|`, `\<U+007C>`)
	return strings.ReplaceAll(escapeCode(s), "|", `\|`)
}

// escapeFence wraps lines in a fenced block that they cannot close.
func escapeFence(lines []string) string {
	text := strings.Join(lines, "\n")
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fence + "text\n" + text + "\n" + fence + "\n"
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// inert keeps a line from being a command to GitHub's runner, which obeys
// "::name::" at the start of any line of a log, after spaces too.
func inert(line string) string {
	rest := strings.TrimLeft(line, " ")
	if !strings.HasPrefix(rest, "::") {
		return line
	}
	return line[:len(line)-len(rest)] + "<U+003A>" + rest[1:]
}

// safeURL leaves the length to longestURL: a bound in the expression takes each process 2 ms to compile.
var safeURL = lazyregexp.New(`^https?://[A-Za-z0-9._~/?#=&%:+,;-]+$`)

const longestURL = len("https://") + 500

// escapeLink writes a link, or its label alone if the address is not one.
// The label is ours, or a code span.
func escapeLink(label, url string) string {
	if len(url) > longestURL || !safeURL.MatchString(url) {
		return label
	}
	return "[" + label + "](" + strings.ReplaceAll(url, "&", "&amp;") + ")"
}

var colours = lazyregexp.New("\x1b\\[[0-9;:]*m")

// excerpt returns the head or the tail of a text as printable lines; cut reports
// whether there was more. Colours are dropped, all else is made visible.
func excerpt(s string, tail bool) (lines []string, cut bool) {
	const maxLines, maxBytes, maxWidth = 30, 2000, 300
	s, cut = window(s, tail)
	s = colours.ReplaceAllString(s, "")
	s = strings.Trim(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n")
	if strings.Trim(s, " \n\t") == "" {
		return nil, cut
	}
	all := strings.Split(s, "\n")
	if tail {
		slices.Reverse(all)
	}
	size := 0
	for _, line := range all {
		line = inert(clip(strings.ReplaceAll(line, "\t", "    "), maxWidth))
		size += len(line)
		if len(lines) == maxLines || size > maxBytes && len(lines) > 0 {
			cut = true
			break
		}
		lines = append(lines, line)
	}
	if tail {
		slices.Reverse(lines)
	}
	return lines, cut
}

// window bounds the work on a text of any length.
func window(s string, tail bool) (part string, cut bool) {
	const limit = 64 << 10
	switch {
	case len(s) <= limit:
		return s, false
	case tail:
		return s[len(s)-limit:], true
	}
	return s[:limit], true
}
