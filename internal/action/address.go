package action

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/accelgate/accelgate/internal/command/site"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// longestAddress is in bytes: reports show no link of more than 500, and a cell's page adds up to 142.
const longestAddress = 340

// safeAddress are the characters that reports put into a link as they are.
var safeAddress = lazyregexp.New(`^[A-Za-z0-9._~/?#=&%:+,;-]+$`)

// address reads an input that reports link to: https, or http where GitHub itself has no
// https, and on this machine. "" is none.
func address(input, s, server string) (string, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || len(s) > longestAddress || !safeAddress.MatchString(s) || u.User != nil || u.Hostname() == "":
	case u.Scheme == "https", u.Scheme == "http" && (strings.HasPrefix(server, "http://") || local(u.Hostname())):
		return s, nil
	}
	return "", fmt.Errorf("%s is %q: give an address such as https://octo.github.io/repo, of at most %d characters, without a password",
		input, text.Cut(text.OneLine(s), 100), longestAddress)
}

func local(host string) bool { return host == "localhost" || host == "127.0.0.1" }

// siteAddress is address for the root of a dashboard, without a slash at its end.
func siteAddress(input, s, server string) (string, error) {
	s, err := address(input, s, server)
	if err == nil && strings.ContainsAny(s, "?#") {
		return "", fmt.Errorf("%s is %q: give the folder of the dashboard, without ? and #", input, text.OneLine(s))
	}
	return strings.TrimRight(s, "/"), err
}

// links are those of a report.
func (a *action) links() report.Links {
	links := report.Links{Run: a.event.RunURL, Report: a.in.reportURL}
	if root := a.in.siteURL; root != "" {
		links.Cell = func(host, cell string) string {
			if path := site.CellPath(host, cell); path != "" {
				return root + "/" + path
			}
			return ""
		}
	}
	return links
}
