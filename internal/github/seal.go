package github

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // git's own object ids
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// A commit of a proposal ends in these lines. A digest is of a path with the id of its
// content, with the commit of ours that wrote it if it is an earlier one. The seal is of
// them and of the commit.
const (
	filesKey = "Accelgate-Files:"
	sealKey  = "Accelgate-Seal:"
)

// recorded is the message of a commit: what is said of it, and what it has of ours.
func (p *proposal) recorded(kept record, at position, tree string, parents []*gh.Commit) string {
	var digests []string
	for _, path := range slices.Sorted(maps.Keys(p.refresh.Files)) {
		digests = append(digests, fileDigest(path, blobID(p.refresh.Files[path])))
	}
	for _, f := range at.files {
		if writer := kept.writer(f); writer != "" && !p.writes(f) {
			digests = append(digests, fileDigest(f.GetFilename(), f.GetSHA())+":"+writer)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", cmp.Or(p.refresh.Message, p.refresh.Title))
	for some := range slices.Chunk(digests, 4) {
		fmt.Fprintf(&b, "\n%s %s", filesKey, strings.Join(some, " "))
	}
	if !p.client.installation {
		fmt.Fprintf(&b, "\n%s %s", sealKey, p.seal(tree, parents, digests))
	}
	return b.String()
}

// recordedBy reads a commit that is ours, and returns nil for one of others. signer is
// who GitHub signs the commits of this token's app for.
func (p *proposal) recordedBy(commit *gh.Commit, signer string) record {
	lines, seal := commit.GetMessage(), ""
	if i := strings.LastIndex(lines, "\n\n"); i >= 0 { // what people wrote is above
		lines = lines[i+2:]
	}
	var digests []string
	for line := range strings.Lines(lines) {
		if some, ok := strings.CutPrefix(line, filesKey); ok {
			digests = append(digests, strings.Fields(some)...)
		} else if of, ok := strings.CutPrefix(line, sealKey); ok {
			seal = strings.TrimSpace(of)
		}
	}
	if len(digests) == 0 {
		return nil
	}
	ours := hmac.Equal([]byte(seal), []byte(p.seal(commit.GetTree().GetSHA(), commit.Parents, digests)))
	if p.client.installation {
		ours = signed(commit, signer)
	}
	if !ours {
		return nil
	}
	found := record{}
	for _, d := range digests {
		d, writer, _ := strings.Cut(d, ":")
		found[d] = cmp.Or(writer, commit.GetSHA())
	}
	return found
}

// seal proves to the holders of a person's token that one of them made a commit. GitHub
// signs those of apps alone, and anybody can write a name into a commit.
func (p *proposal) seal(tree string, parents []*gh.Commit, digests []string) string {
	mac := hmac.New(sha256.New, []byte(p.client.sender.token))
	fmt.Fprintf(mac, "accelgate proposal\n%s\n%s\n%s\n", p.repo, p.refresh.Branch, tree)
	for _, parent := range parents {
		fmt.Fprintf(mac, "parent %s\n", parent.GetSHA())
	}
	fmt.Fprintf(mac, "%s\n", strings.Join(digests, " "))
	return hex.EncodeToString(mac.Sum(nil))
}

// noReply matches the address by which GitHub names the account of a commit that it signed.
var noReply = lazyregexp.New(`^(?:[0-9]+\+)?(.+)@users\.noreply\.github\.com$`)

// signed reports whether GitHub made a commit for an app, and signed it.
// Source: https://docs.github.com/authentication/managing-commit-signature-verification/about-commit-signature-verification,
// "Signature verification for bots".
func signed(commit *gh.Commit, app string) bool {
	author := noReply.FindStringSubmatch(commit.GetAuthor().GetEmail())
	return commit.GetVerification().GetVerified() && commit.GetCommitter().GetEmail() == "noreply@github.com" && author != nil &&
		app != "" && strings.EqualFold(author[1], app)
}

// fileDigest stands for a path with the content that has this id.
func fileDigest(path, blob string) string {
	sum := sha256.Sum256([]byte(path + "\x00" + blob))
	return hex.EncodeToString(sum[:16])
}

// blobID is the id that git gives a content.
func blobID(data []byte) string {
	h := sha1.New() //nolint:gosec // git's own object ids
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
