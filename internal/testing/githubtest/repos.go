package githubtest

import (
	"encoding/base64"
	"net/http"
	"path"
	"strings"
	"time"
)

// maxContent is the size up to which the contents API delivers a file inline.
const maxContent = 1 << 20

func getUser(c *call) reply {
	if c.token.Integration {
		return inaccessible(c.token)
	}
	user := c.user(c.token.Login)
	user["user_view_type"] = "private"
	user["created_at"], user["updated_at"] = c.clock.Format(time.RFC3339), c.clock.Format(time.RFC3339)
	return ok(user)
}

// user returns an account. Its id depends on nothing but the login.
func (c *call) user(login string) object {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	var id int64
	for _, b := range []byte(strings.ToLower(login)) {
		id = (id*31 + int64(b)) % 1_000_003
	}
	return object{"login": login, "id": id, "type": kind, "url": c.base + "/users/" + login, "html_url": c.base + "/" + login}
}

// getRepo shows the role of a user, as GitHub does; of an app it shows none.
func getRepo(c *call) reply {
	o := c.repository()
	if !c.token.Integration {
		o["permissions"] = rights(c.repo.permissions[strings.ToLower(c.token.Login)])
	}
	r := ok(o)
	if !c.token.Integration && c.token.Permissions == nil { // a classic token
		r.header = http.Header{"X-Oauth-Scopes": {"repo, workflow"}}
	}
	return r
}

// rights returns which roles a role includes.
func rights(role string) object {
	all := []string{"pull", "triage", "push", "maintain", "admin"}
	rank := map[string]int{"": 1, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}[role]
	o := object{}
	for i, name := range all {
		o[name] = i < rank
	}
	return o
}

func (c *call) repository() object {
	now := c.clock.Format(time.RFC3339)
	return object{
		"id": c.repo.id, "node_id": c.repo.nodeID(), "name": c.repo.name, "full_name": c.repo.fullName(),
		"owner": c.user(c.repo.owner), "private": false, "default_branch": c.repo.defaultBranch,
		"url": strings.TrimSuffix(c.address(""), "/"), "html_url": strings.TrimSuffix(c.page(""), "/"),
		"created_at": now, "updated_at": now, "pushed_at": now,
	}
}

func getContent(c *call) reply {
	ref := c.url.Query().Get("ref")
	if ref == "" {
		ref = c.repo.defaultBranch
	}
	sha := c.repo.resolve(ref)
	if sha == "" {
		return failure(http.StatusNotFound, "No commit found for the ref "+ref)
	}
	file := strings.TrimSuffix(c.params["path"], "/")
	entry, found := c.repo.git.lookup(c.repo.git.commits[sha].tree, file)
	if !found {
		return notFound()
	}
	if entry.mode != modeDir {
		return ok(c.content(file, entry, true))
	}
	listing := list{}
	for _, e := range c.repo.git.trees[entry.sha] {
		listing = append(listing, c.content(path.Join(file, e.name), e, false))
	}
	return ok(listing)
}

// content describes the entry at file, with what is in it where inline is set.
func (c *call) content(file string, entry treeEntry, inline bool) object {
	data := c.repo.git.blobs[entry.sha]
	kind := "file"
	if entry.mode == modeDir {
		kind = "dir"
	}
	o := object{
		"type": kind, "name": path.Base(file), "path": file, "sha": entry.sha, "size": len(data),
		"url": c.address("contents/%s", file),
	}
	switch {
	case inline && len(data) <= maxContent:
		o["encoding"], o["content"] = "base64", wrap(base64.StdEncoding.EncodeToString(data))
	case inline:
		o["encoding"], o["content"] = "none", ""
	}
	return o
}

// wrap breaks base64 into lines as GitHub does.
func wrap(s string) string {
	var b strings.Builder
	for len(s) > 60 {
		b.WriteString(s[:60] + "\n")
		s = s[60:]
	}
	b.WriteString(s + "\n")
	return b.String()
}
