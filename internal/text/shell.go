package text

import (
	"fmt"
	"strings"
)

// ShellWord returns s as one argument for a POSIX shell, quoted only if it needs
// quotes.
func ShellWord(s string) string {
	const safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:,@%+"
	if s != "" && strings.Trim(s, safe) == "" {
		return s
	}
	return ShellQuote(s)
}

// ShellQuote returns s as one quoted argument for a POSIX shell. If s cannot be
// printed, the bytes are written as $'\xNN', which bash and zsh read.
func ShellQuote(s string) string {
	if Printable(s) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	const safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-./=:,+"
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		if strings.IndexByte(safe, s[i]) >= 0 {
			b.WriteByte(s[i])
			continue
		}
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	return b.String() + "'"
}
