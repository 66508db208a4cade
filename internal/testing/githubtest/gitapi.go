package githubtest

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

func (c *call) ref(name string) object {
	sha := c.repo.refs[name]
	return object{
		"ref": name, "url": c.address("git/%s", name),
		"object": object{"type": "commit", "sha": sha, "url": c.address("git/commits/%s", sha)},
	}
}

func getRef(c *call) reply {
	name := "refs/" + c.params["ref"]
	if c.repo.refs[name] == "" {
		return notFound()
	}
	return ok(c.ref(name))
}

func createRef(c *call) reply {
	var in struct{ Ref, SHA string }
	c.decode(&in)
	_, known := c.repo.git.commits[in.SHA]
	switch {
	case !strings.HasPrefix(in.Ref, "refs/") || strings.Count(in.Ref, "/") < 2:
		return refused("Reference name must start with 'refs/' and have at least two slashes.")
	case !known:
		return refused("Object does not exist")
	case c.repo.refs[in.Ref] != "":
		return refused("Reference already exists")
	}
	c.repo.refs[in.Ref] = in.SHA
	return created(c.ref(in.Ref))
}

func updateRef(c *call) reply {
	var in struct {
		SHA   string
		Force bool
	}
	c.decode(&in)
	name := "refs/" + c.params["ref"]
	_, known := c.repo.git.commits[in.SHA]
	switch {
	case c.repo.refs[name] == "":
		return refused("Reference does not exist")
	case !known:
		return refused("Object does not exist")
	case !in.Force && !c.repo.git.reaches(in.SHA, c.repo.refs[name]):
		return refused("Update is not a fast forward")
	}
	c.repo.refs[name] = in.SHA
	return ok(c.ref(name))
}

// deleteRef deletes a ref. GitHub closes the pull requests of a branch that is
// gone.
func deleteRef(c *call) reply {
	name := "refs/" + c.params["ref"]
	if c.repo.refs[name] == "" {
		return refused("Reference does not exist")
	}
	for _, p := range c.repo.pulls {
		if p.state == "open" && p.fork == "" && "refs/heads/"+p.head == name {
			p.close(c.repo, c.tick())
		}
	}
	delete(c.repo.refs, name)
	return noContent()
}

func getBlob(c *call) reply {
	sha := c.params["file_sha"]
	data, found := c.repo.git.blobs[sha]
	if !found {
		return notFound()
	}
	return ok(object{
		"sha": sha, "url": c.address("git/blobs/%s", sha), "size": len(data),
		"encoding": "base64", "content": wrap(base64.StdEncoding.EncodeToString(data)),
	})
}

func createBlob(c *call) reply {
	var in struct{ Content, Encoding string }
	c.decode(&in)
	data := []byte(in.Content)
	if in.Encoding == "base64" {
		var err error
		if data, err = base64.StdEncoding.DecodeString(in.Content); err != nil {
			return refused("content is not valid Base64")
		}
	}
	sha := c.repo.git.addBlob(data)
	return created(object{"sha": sha, "url": c.address("git/blobs/%s", sha)})
}

func (c *call) tree(sha string, recursive bool) object {
	git := c.repo.git
	entries := map[string]treeEntry{}
	for _, e := range git.trees[sha] {
		entries[e.name] = e
	}
	if recursive {
		maps.Copy(entries, git.files(sha))
	}
	listing := list{}
	for _, path := range slices.Sorted(maps.Keys(entries)) {
		e := entries[path]
		o := object{
			"path": path, "mode": e.mode, "type": e.kind(), "sha": e.sha,
			"url": c.address("git/%ss/%s", e.kind(), e.sha),
		}
		if e.kind() == "blob" {
			o["size"] = len(git.blobs[e.sha])
		}
		listing = append(listing, o)
	}
	return object{"sha": sha, "url": c.address("git/trees/%s", sha), "truncated": false, "tree": listing}
}

func getTree(c *call) reply {
	sha := c.params["tree_sha"]
	if commit := c.repo.resolve(sha); commit != "" {
		sha = c.repo.git.commits[commit].tree
	}
	if _, found := c.repo.git.trees[sha]; !found {
		return notFound()
	}
	return ok(c.tree(sha, c.url.Query().Has("recursive")))
}

// newTreeEntry is what a client sends for one entry of a tree. A null sha
// deletes the path.
type newTreeEntry struct {
	Path, Mode, Type string
	SHA, Content     *string
}

func createTree(c *call) reply {
	var in struct {
		Tree     []newTreeEntry
		BaseTree string `json:"base_tree"`
	}
	c.decode(&in)
	if _, found := c.repo.git.trees[in.BaseTree]; in.BaseTree != "" && !found {
		return refused("base_tree is not a valid tree oid")
	}
	files := c.repo.git.files(in.BaseTree)
	for _, e := range in.Tree {
		if problem := c.putEntry(files, e); problem != "" {
			return refused("%s", problem)
		}
	}
	return created(c.tree(c.repo.git.writeFiles(files), false))
}

// putEntry lays one entry over files and returns what is wrong with it, if
// anything.
func (c *call) putEntry(files map[string]treeEntry, e newTreeEntry) (problem string) {
	git := c.repo.git
	switch {
	case !validPath(e.Path):
		return "tree.path contains a malformed path component"
	case e.SHA != nil && e.Content != nil:
		return "Must supply either tree.sha or tree.content"
	case e.SHA != nil && !git.exists(*e.SHA):
		return "tree.sha " + *e.SHA + " is not a valid object"
	case e.Content != nil && !utf8.ValidString(*e.Content):
		return "tree.content is not valid UTF-8"
	}
	for path := range files { // a file and a folder cannot share a name
		if path == e.Path || strings.HasPrefix(path, e.Path+"/") || strings.HasPrefix(e.Path, path+"/") {
			delete(files, path)
		}
	}
	switch {
	case e.Content != nil:
		files[e.Path] = treeEntry{mode: e.Mode, sha: git.addBlob([]byte(*e.Content))}
	case e.SHA != nil && e.Mode == modeDir:
		for path, below := range git.files(*e.SHA) {
			files[e.Path+"/"+path] = below
		}
	case e.SHA != nil:
		files[e.Path] = treeEntry{mode: e.Mode, sha: *e.SHA}
	}
	return ""
}

func (c *call) commit(sha string) object {
	commit := c.repo.git.commits[sha]
	parents := list{}
	for _, p := range commit.parents {
		parents = append(parents, object{"sha": p, "url": c.address("git/commits/%s", p), "html_url": c.page("commit/%s", p)})
	}
	return object{
		"sha": sha, "url": c.address("git/commits/%s", sha), "html_url": c.page("commit/%s", sha),
		"author": commit.author, "committer": commit.committer(), "message": commit.message, "parents": parents,
		"tree":         object{"sha": commit.tree, "url": c.address("git/trees/%s", commit.tree)},
		"verification": object{"verified": commit.signed, "reason": map[bool]string{true: "valid", false: "unsigned"}[commit.signed]},
	}
}

func getCommit(c *call) reply {
	sha := c.params["commit_sha"]
	if _, found := c.repo.git.commits[sha]; !found {
		return notFound()
	}
	return ok(c.commit(sha))
}

func createCommit(c *call) reply {
	var in struct {
		Message, Tree string
		Parents       []string
		Author        *signature
	}
	c.decode(&in)
	if _, found := c.repo.git.trees[in.Tree]; !found {
		return refused("Tree SHA does not exist")
	}
	for _, parent := range in.Parents {
		if _, found := c.repo.git.commits[parent]; !found {
			return refused("Parent SHA does not exist or is not a commit object")
		}
	}
	author := c.sign(c.token.Login)
	if in.Author != nil {
		author = *in.Author
	}
	// https://docs.github.com/authentication/managing-commit-signature-verification/about-commit-signature-verification
	signed := c.token.Integration && in.Author == nil
	return created(c.commit(c.repo.git.addCommit(commit{
		tree: in.Tree, parents: in.Parents, message: in.Message, author: author, signed: signed})))
}
