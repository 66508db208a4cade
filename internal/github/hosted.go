package github

import (
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// hosted finds host, owner and name in the addresses that git has for a repository.
var hosted = lazyregexp.New(
	`^(?:https?://|ssh://git@|git@|git://)(?:[^/@]*@)?([A-Za-z0-9][A-Za-z0-9.-]*)(?::\d+(?:/)|[:/])([A-Za-z0-9-]+/[A-Za-z0-9._-]+?)(?:\.git)?/?$`,
)

// Hosted splits an address that git has for a repository into its host, in lower case and without a
// port, and owner/name; both are "" for other addresses.
func Hosted(address string) (host, repository string) {
	if m := hosted.FindStringSubmatch(strings.TrimSpace(address)); m != nil {
		return strings.ToLower(m[1]), m[2]
	}
	return "", ""
}
