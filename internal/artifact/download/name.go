package download

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// What the hub accepts (github.com/huggingface/huggingface_hub,
// utils/_validators.py), in ASCII: "--" separates the parts of an id where it is
// a folder's name.
var (
	idPart     = lazyregexp.New(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?$`)
	commitHash = lazyregexp.New(`^[0-9a-f]{40}$`)
	sha256Hash = lazyregexp.New(`^[0-9a-f]{64}$`)
)

// datasets begins the ids of datasets, as it does their addresses on the hub.
const datasets = "datasets/"

// CheckID reports an id that no model or dataset of the hub has.
func CheckID(id string) error {
	id = strings.TrimPrefix(id, datasets)
	parts := strings.Split(id, "/")
	ok := len(parts) <= 2 && !strings.Contains(id, "--") && !strings.Contains(id, "..") && !strings.HasSuffix(id, ".git")
	for _, part := range parts {
		ok = ok && idPart.MatchString(part)
	}
	if !ok {
		return errors.New("no id of a model: write owner/name as the hub shows it, or datasets/owner/name")
	}
	return nil
}

// checkRevision demands what git allows in names of branches and tags
// (git-scm.com/docs/git-check-ref-format), and a length.
func checkRevision(revision string) error {
	bad := len(revision) > 200 || !utf8.ValidString(revision) || strings.ContainsAny(revision, ` ~^:?*[\`) ||
		strings.ContainsFunc(revision, isControl) ||
		strings.Contains(revision, "@{") ||
		strings.HasPrefix(revision, "-")
	for part := range strings.SplitSeq(revision, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") ||
			strings.Contains(part, "..")
	}
	if bad || !filepath.IsLocal(filepath.FromSlash(revision)) {
		return fmt.Errorf("%.80q is not a revision: name a branch, a tag or a commit", revision)
	}
	return nil
}

func isCommit(revision string) bool { return commitHash.MatchString(revision) }

// pinned reports whether a revision is a commit or a digest: what it names never changes.
func pinned(revision string) bool { return isCommit(revision) || sha256Hash.MatchString(revision) }

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// checkName demands a name that is one and the same file below a folder on
// every system that this one may share its cache with.
func checkName(name string) error {
	bad := len(name) > 1000 || strings.ContainsRune(name, '\\') || strings.ContainsFunc(name, isControl) ||
		!filepath.IsLocal(filepath.FromSlash(name))
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || len(part) > 255
	}
	if bad {
		return fmt.Errorf("%.80q is not a name that can be saved: choose other files", name)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// isPrivate reports whether a host is this machine or in a private network, as far as
// its addresses are known here: behind a proxy they may not be.
func isPrivate(ctx context.Context, host string) bool {
	if isLoopback(host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err == nil {
		return privateAddress(ip)
	}
	ips, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return slices.ContainsFunc(ips, privateAddress)
}

func privateAddress(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
}
