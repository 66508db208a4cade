package github

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// MaxText is how long the whole text of a comment, of a check run's summary and
// of a pull request may be here, in bytes. GitHub's own limit is 65,536
// characters for a comment, by its error message, and 65,535 for a check run;
// some servers count bytes.
const MaxText = 60_000

// limits are the sizes that are tried, in turn, while GitHub says that a text is
// too long.
var limits = []int{MaxText, 40_000, 20_000, 8_000, 2_000, 500}

// Ladder returns a text of at most limit bytes, ever smaller ones for ever
// smaller limits. It is called several times and has to return the same text
// for the same limit. Markdown that cannot be cut anywhere belongs into one.
type Ladder func(limit int) string

// Fixed is the ladder of a text that cannot be shortened.
func Fixed(text string) Ladder { return func(int) string { return text } }

// at returns the text for a limit, as valid UTF-8, or an error where it does
// not keep to it.
func (l Ladder) at(limit int) (string, error) {
	text := strings.ToValidUTF8(l(max(limit, 0)), "\uFFFD")
	if over := len(text) - limit; over > 0 {
		return "", fmt.Errorf("the text is %d bytes too long: shorten it", over)
	}
	return text, nil
}

// tooLong reports whether GitHub refused a text for its length.
func tooLong(err error) bool {
	return status(err) == http.StatusUnprocessableEntity &&
		(rejected(err, "too long") || rejected(err, "characters are allowed"))
}

var maxCharacters = lazyregexp.New(`maximum is (\d{1,9}) characters`)

// longest returns the limit that GitHub names where it refuses a text for its
// length, or 0. A text of so many bytes has no more characters.
func longest(err error) int {
	if !tooLong(err) {
		return 0
	}
	found := maxCharacters.FindStringSubmatch(err.Error())
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1]) // it has at most nine digits
	return n
}

// room returns how much of limit the rest leaves.
func room(limit int, rest ...string) int {
	for _, s := range rest {
		limit -= len(s)
	}
	return limit
}

// optional leaves an empty text out of a request.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return gh.String(s)
}
