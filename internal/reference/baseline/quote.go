package baseline

import "github.com/accelgate/accelgate/internal/text"

// mostShown bounds the text of a file in a message, in characters.
const mostShown = 80

func quote(s string) string { return text.Quote(s, mostShown) }

func plain(s string) string { return text.Plain(s, mostShown) }

func clip(s string) string { return text.Line(s, mostShown) }
