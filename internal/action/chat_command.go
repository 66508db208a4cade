package action

import (
	"errors"
	"strings"
	"unicode"
)

const (
	chatPrefix  = "/accelgate"
	approveVerb = "approve-config"
)

// parseCommand splits the first line of a comment into the words that follow /accelgate.
// ok is false where the comment is no command. The job that answers a comment and the one
// that looks for approvals read it by this function alone.
func parseCommand(body string) (words []string, ok bool, err error) {
	line, _, _ := strings.Cut(strings.TrimLeft(body, "\ufeff \t\r\n"), "\n")
	words, err = fields(line)
	if len(words) == 0 || words[0] != chatPrefix {
		return nil, false, nil
	}
	return words[1:], true, err
}

// isApproval reports whether a command approves the configuration of a commit.
func isApproval(words []string, commit string) bool {
	return len(words) == 2 && words[0] == approveVerb && words[1] == commit && commit != ""
}

// fields splits a line at spaces; quotes, double or back, keep them.
func fields(line string) (words []string, err error) {
	rest := strings.TrimSpace(line)
	for rest != "" {
		word := ""
		if quote := rest[0]; quote == '"' || quote == '`' {
			end := strings.IndexByte(rest[1:], quote)
			if end < 0 {
				return words, errors.New("a quote is not closed")
			}
			word, rest = rest[1:1+end], rest[end+2:]
		} else {
			end := strings.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			word, rest = rest[:end], rest[end:]
		}
		words = append(words, word)
		rest = strings.TrimSpace(rest)
	}
	return words, nil
}
