package baseline

import "github.com/accelgate/accelgate/internal/text"

// maxShown bounds the text of a file in a message, in characters.
const maxShown = 80

func quote(s string) string { return text.Quote(s, maxShown) }

func plain(s string) string { return text.Plain(s, maxShown) }

func clip(s string) string { return text.Line(s, maxShown) }
