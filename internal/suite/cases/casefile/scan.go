package casefile

import "github.com/accelgate/accelgate/internal/text/jsonread"

type (
	value  = jsonread.Value
	member = jsonread.Member
)

// scan reads the whole text into root, and reports whether it is valid JSON:
// exactly what encoding/json takes for it. The text is known to be UTF-8.
func (r *reader) scan() bool {
	root, err := r.json.Tree(1, 0, 0)
	r.root = root
	return err == nil
}
