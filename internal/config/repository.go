package config

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

var (
	onGitHub = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*$`)
	scpLike  = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^:\s-][^:\s]*$`)
	refName  = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_./+-]*$`)
)

// Elsewhere reports whether baselines are kept in another repository or branch, or in a store.
func (b Baselines) Elsewhere() bool { return b.Repository != "" || b.Ref != "" || b.Stored() }

// Stored reports whether commands read and write baselines.
func (b Baselines) Stored() bool { return b.Fetch != nil || b.Publish != nil }

// store complains about commands that cannot read or write a file.
func (d *decoder) store(b *Baselines, n ast.Node) {
	bad := func(key, why, hint string) { d.fail(start(d.at(n, "baselines."+key)), "baselines."+key+": "+why, hint) }
	switch {
	case !b.Stored():
	case b.Fetch == nil:
		bad("publish", "needs fetch, which reads what is compared with", "add fetch, or remove publish")
	case b.Repository != "" || b.Ref != "":
		bad("fetch", "goes without a repository", "remove repository and ref, or fetch and publish")
	case b.Path != "":
		bad("path", "goes without fetch, whose command names the place", "remove path, or fetch and publish")
	case b.FromHistory():
		bad("from", "history goes without fetch", "remove from, or fetch and publish")
	}
	for key, command := range map[string][]string{"fetch": b.Fetch, "publish": b.Publish} {
		names := func(arg string) bool { return strings.Contains(arg, "{file}") }
		if command != nil && (command[0] == "" || !slices.ContainsFunc(command, names)) {
			bad(key, "names no {file}, the path of the file on this host", `write a command, as in ["./store.sh", get, "{name}", "{file}"]`)
		}
	}
}

// OnGitHub reports whether the repository is given as OWNER/NAME.
func (b Baselines) OnGitHub() bool { return onGitHub.MatchString(b.Repository) }

// IsPath reports whether the repository is a folder of this host.
func (b Baselines) IsPath() bool {
	return strings.HasPrefix(b.Repository, ".") || strings.HasPrefix(b.Repository, "/") ||
		len(b.Repository) > 2 && b.Repository[1] == ':' && strings.ContainsAny(b.Repository[2:3], `/\`)
}

// elsewhere complains about what git could take for something else than a repository, a
// branch and a folder. The node is that of the key baselines.
func (d *decoder) elsewhere(b *Baselines, n ast.Node) {
	bad := func(key, why, hint string) {
		d.fail(start(d.at(n, "baselines."+key)), "baselines."+key+": "+why, hint)
	}
	if b.FromHistory() {
		bad("from", "history goes without a repository",
			"remove from, or repository and ref; the history branch is the action's input history-branch")
		return
	}
	if why := b.wrongRepository(); b.Repository != "" && why != "" {
		shown := b.Repository
		if u, err := url.Parse(shown); err == nil && u.User != nil {
			shown = u.Scheme + "://" + u.Host // the rest may be a secret
		}
		bad("repository", quote(shown)+" "+why, "write OWNER/NAME, an https or ssh address, or a path that begins with ./, ../ or /")
	}
	if b.Ref != "" &&
		(!refName.MatchString(b.Ref) || strings.Contains(b.Ref, "..") || strings.Contains(b.Ref, "//") ||
			strings.HasSuffix(b.Ref, ".lock") || len(b.Ref) > 200) {
		bad("ref", quote(b.Ref)+" is not a branch, tag or commit", "write its name, as in main")
	}
	if b.Path != "" &&
		(path.IsAbs(b.Path) || strings.Contains(b.Path, `\`) || path.Clean(b.Path) != b.Path || strings.HasPrefix(b.Path,
			"..") || !text.Printable(b.Path)) {
		bad("path", quote(b.Path)+" is not a folder of that repository",
			"write its path from the root with slashes, as in baselines or gpu/baselines")
	}
}

// wrongRepository returns why a text is no repository; "" if it is one.
func (b Baselines) wrongRepository() string {
	switch {
	case strings.HasPrefix(b.Repository, "-") || !text.Printable(b.Repository) || strings.ContainsAny(b.Repository, " \n") ||
		strings.Contains(b.Repository, "::"):
		return "is not a repository"
	case b.OnGitHub() || b.IsPath() || scpLike.MatchString(b.Repository):
		return ""
	}
	u, err := url.Parse(b.Repository)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "ssh" && u.Scheme != "file":
		return "is not a repository"
	case u.Scheme != "file" && (u.Host == "" || strings.HasPrefix(u.Host, "-")):
		return "names no server"
	case u.User != nil:
		if _, secret := u.User.Password(); secret || u.Scheme == "https" {
			return "holds a name or a password, which this file must not"
		}
	}
	return ""
}

// In names the file of a host: where its repository is, and its path.
func (b Baselines) In(file string) string {
	if b.Stored() {
		return "baselines.fetch/" + file
	}
	where := b.Repository
	if b.Ref != "" {
		where += "@" + b.Ref
	}
	return fmt.Sprintf("%s:%s", where, file)
}
