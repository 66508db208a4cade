package site

import (
	"fmt"
	"html"
	"io"

	"github.com/accelgate/accelgate/internal/report/interchange"
	"github.com/accelgate/accelgate/internal/text"
)

// badge writes the number of regressions of the last 7 days as badge.json, in the form of shields.io's endpoints, and as badge.svg.
func (s *site) badge() error {
	message, color := s.state()
	if err := s.file("badge.json", interchange.Endpoint{Label: "performance", Message: message, Color: color}.Write); err != nil {
		return err
	}
	return s.file("badge.svg", func(w io.Writer) error {
		_, err := io.WriteString(w, badgeSVG("performance", message, color))
		return err
	})
}

// state is what a badge says. Without any run of 30 days it says that.
func (s *site) state() (message, color string) {
	regressed, fresh := 0, false
	for i := range s.hosts {
		regressed += s.hosts[i].regressed
		fresh = fresh || !s.hosts[i].Newest.At.Before(s.days(30))
	}
	switch {
	case !fresh:
		return "no run in 30 days", "lightgrey"
	case regressed == 0:
		return "no regressions in 7 days", "brightgreen"
	}
	return text.Plural(regressed, "regression") + " in 7 days", "red"
}

// fills are the colours of shields.io that white text can be read on.
var fills = map[string]string{"brightgreen": "#1a7f37", "red": "#cf222e", "lightgrey": "#59636e"}

func badgeSVG(label, message, color string) string {
	const perRune, room = 7, 12
	left, right := perRune*len(label)+room, perRune*len(message)+room
	return fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[4]s: %[5]s"><rect width="%[2]d" height="20" fill="#1f2328"/>`+
			`<rect x="%[2]d" width="%[3]d" height="20" fill="%[6]s"/><g fill="#fff" font-family="Verdana,sans-serif" font-size="11" text-anchor="middle">`+
			`<text x="%[7]d" y="14">%[4]s</text><text x="%[8]d" y="14">%[5]s</text></g></svg>`+"\n", left+right, left, right,
		html.EscapeString(label), html.EscapeString(message), fills[color], left/2, left+right/2)
}
