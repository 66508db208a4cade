package githubtest

import (
	"crypto/sha1" //nolint:gosec // git's own object ids
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// The modes of a tree's entries as the API writes them.
const (
	modeFile = "100644"
	modeDir  = "040000"
)

// gitStore holds git objects under the ids that git itself would give them.
// It is not safe for concurrent use.
type gitStore struct {
	blobs   map[string][]byte
	trees   map[string][]treeEntry
	commits map[string]commit
}

type treeEntry struct {
	name, mode, sha string
}

func (e treeEntry) kind() string {
	switch e.mode {
	case modeDir:
		return "tree"
	case "160000":
		return "commit"
	}
	return "blob"
}

type commit struct {
	tree    string
	parents []string
	message string
	author  signature
	signed  bool // by GitHub, which is the committer then
}

// committer is GitHub itself for a commit that it signs.
func (c commit) committer() signature {
	if c.signed {
		return signature{Name: "GitHub", Email: "noreply@github.com", Date: c.author.Date}
	}
	return c.author
}

type signature struct {
	Name  string    `json:"name"`
	Email string    `json:"email"`
	Date  time.Time `json:"date"`
}

func newGitStore() *gitStore {
	g := &gitStore{blobs: map[string][]byte{}, trees: map[string][]treeEntry{}, commits: map[string]commit{}}
	g.addTree(nil)
	return g
}

func objectID(kind string, payload []byte) string {
	h := sha1.New() //nolint:gosec // git's own object ids
	fmt.Fprintf(h, "%s %d\x00", kind, len(payload))
	h.Write(payload)
	return hex.EncodeToString(h.Sum(nil))
}

func (g *gitStore) addBlob(data []byte) string {
	sha := objectID("blob", data)
	g.blobs[sha] = slices.Clone(data)
	return sha
}

// addTree stores one folder. Git sorts a folder's entries as if the names of
// sub-folders ended in a slash.
func (g *gitStore) addTree(entries []treeEntry) string {
	sortKey := func(e treeEntry) string {
		if e.mode == modeDir {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortFunc(entries, func(a, b treeEntry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	var payload []byte
	for _, e := range entries {
		id, _ := hex.DecodeString(e.sha)
		payload = fmt.Appendf(payload, "%s %s\x00", strings.TrimPrefix(e.mode, "0"), e.name)
		payload = append(payload, id...)
	}
	sha := objectID("tree", payload)
	g.trees[sha] = entries
	return sha
}

func (g *gitStore) addCommit(c commit) string {
	payload := fmt.Appendf(nil, "tree %s\n", c.tree)
	for _, parent := range c.parents {
		payload = fmt.Appendf(payload, "parent %s\n", parent)
	}
	who := func(s signature) string { return fmt.Sprintf("%s <%s> %d +0000", s.Name, s.Email, s.Date.Unix()) }
	payload = fmt.Appendf(payload, "author %s\ncommitter %s\n\n%s", who(c.author), who(c.committer()), c.message)
	sha := objectID("commit", payload)
	g.commits[sha] = c
	return sha
}

// exists reports whether any object has this id.
func (g *gitStore) exists(sha string) bool {
	_, blob := g.blobs[sha]
	_, tree := g.trees[sha]
	_, commit := g.commits[sha]
	return blob || tree || commit
}

// files returns everything below a tree but folders, by path.
func (g *gitStore) files(tree string) map[string]treeEntry {
	all := map[string]treeEntry{}
	for _, e := range g.trees[tree] {
		if e.mode != modeDir {
			all[e.name] = e
			continue
		}
		for path, below := range g.files(e.sha) {
			all[e.name+"/"+path] = below
		}
	}
	return all
}

// writeFiles is the inverse of files.
func (g *gitStore) writeFiles(files map[string]treeEntry) string {
	var entries []treeEntry
	folders := map[string]map[string]treeEntry{}
	for path, e := range files {
		folder, rest, nested := strings.Cut(path, "/")
		if !nested {
			entries = append(entries, treeEntry{name: path, mode: e.mode, sha: e.sha})
			continue
		}
		if folders[folder] == nil {
			folders[folder] = map[string]treeEntry{}
		}
		folders[folder][rest] = e
	}
	for name, below := range folders {
		entries = append(entries, treeEntry{name: name, mode: modeDir, sha: g.writeFiles(below)})
	}
	return g.addTree(entries)
}

// lookup returns the entry at path below a tree.
func (g *gitStore) lookup(tree, path string) (treeEntry, bool) {
	name, rest, nested := strings.Cut(path, "/")
	for _, e := range g.trees[tree] {
		if e.name != name {
			continue
		}
		if nested {
			return g.lookup(e.sha, rest)
		}
		return e, true
	}
	return treeEntry{}, false
}

// reaches reports whether ancestor is the commit from or one of its ancestors.
func (g *gitStore) reaches(from, ancestor string) bool {
	seen := map[string]bool{}
	todo := []string{from}
	for len(todo) > 0 {
		sha := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if sha == ancestor {
			return true
		}
		if !seen[sha] {
			seen[sha] = true
			todo = append(todo, g.commits[sha].parents...)
		}
	}
	return false
}

// validPath reports whether git takes path as a file of a tree.
func validPath(path string) bool {
	return path != "." && fs.ValidPath(path) &&
		!slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return strings.EqualFold(name, ".git") })
}

// commitFiles stores a commit whose tree is the first parent's with files laid
// over it.
func (g *gitStore) commitFiles(files map[string]string, message string, author signature, parents ...string) string {
	all := map[string]treeEntry{}
	if len(parents) > 0 {
		all = g.files(g.commits[parents[0]].tree)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		all[path] = treeEntry{mode: modeFile, sha: g.addBlob([]byte(files[path]))}
	}
	return g.addCommit(commit{tree: g.writeFiles(all), parents: parents, message: message, author: author})
}
