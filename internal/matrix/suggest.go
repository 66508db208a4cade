package matrix

import (
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// instead is the next step after an unknown word.
func instead(word string, known []string) string {
	if near := text.Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "use one of " + strings.Join(known, ", ")
}
