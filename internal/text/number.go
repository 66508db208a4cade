package text

import "github.com/accelgate/accelgate/internal/text/lazyregexp"

var number = lazyregexp.New(`^[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?$`)

// IsNumber reports whether s is a number of 0 or more as people write it, such as 12,
// 0.5 or 1e-3: no sign, no hexadecimal digits, no infinity.
func IsNumber(s string) bool { return number.MatchString(s) }
