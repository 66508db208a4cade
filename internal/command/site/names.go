package site

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// slug names a file after s. It is the same for the same s, and no two are alike.
func slug(s string) string { return named(s, s) }

// named names a file by the letters and digits of a text, and by the digest of a key. It holds lower-case
// letters, digits and hyphens alone, so that no system reads anything into it.
func named(readable, key string) string {
	const maximum = 48
	var b strings.Builder
	for _, r := range readable {
		switch {
		case b.Len() == maximum:
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case 'A' <= r && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimLeft(strings.TrimSuffix(b.String(), "-")+"-"+digest(key), "-")
}

// digest is short, and long enough for millions of names.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// shown is a foreign name as one line of printable text.
func shown(s string) string { return text.Line(s, 160) }

// short is a commit as people write it.
func short(revision string) string {
	if revision == "" {
		return "unknown"
	}
	return text.Cut(text.OneLine(revision), 12)
}

// safeURL leaves out what could end an attribute or be a script.
var safeURL = lazyregexp.New(`^https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~/-]*)?$`)

// commit is a revision that may stand in an address and in a command.
var commit = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CommitURL is the page of a commit; "" if none can be linked.
func (o *Options) CommitURL(revision string) string {
	if o.Repository == "" || !commit.MatchString(revision) {
		return ""
	}
	return strings.TrimSuffix(o.Repository, "/") + "/commit/" + revision
}

// RangeURL is the page of the commits after one, up to another; "" if none can be linked.
func (o *Options) RangeURL(after, before string) string {
	if o.Repository == "" || !commit.MatchString(after) || !commit.MatchString(before) || after == before {
		return ""
	}
	return strings.TrimSuffix(o.Repository, "/") + "/compare/" + after + "..." + before
}

// rangeCommand lists the commits after one, up to another; "" if one of them cannot be typed.
func rangeCommand(after, before string) string {
	if !commit.MatchString(after) || !commit.MatchString(before) || after == before {
		return ""
	}
	return "git log --oneline " + short(after) + ".." + short(before)
}
