package githubtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// Comment writes a comment on a pull request of "owner/name" as a user does, and
// returns its id. It is 0 where there is no such pull request.
func (s *Server) Comment(repo string, issue int, login, body string) (id int64) {
	s.view(repo, func(r *repository) {
		if r.pull(issue) != nil {
			id = s.addComment(r, issue, login, body).id
		}
	})
	return id
}

// act does for scripts what people do on GitHub, after a POST:
//
//	/_fake/comment?repo=owner/name&issue=1&as=LOGIN&body=TEXT              answers the id
//	/_fake/label?repo=owner/name&issue=1&as=LOGIN&label=NAME
//	/_fake/unlabel?repo=owner/name&issue=1&as=LOGIN&label=NAME
//	/_fake/push?repo=owner/name&branch=NAME&path=FILE&content=TEXT         answers the commit
func (s *Server) act(w http.ResponseWriter, page, repo string, query url.Values) {
	issue, _ := strconv.Atoi(query.Get("issue"))
	switch as := query.Get("as"); page {
	case "comment":
		fmt.Fprintln(w, s.Comment(repo, issue, as, query.Get("body")))
	case "label":
		s.Label(repo, issue, as, query.Get("label"))
	case "unlabel":
		s.Unlabel(repo, issue, as, query.Get("label"))
	case "push":
		fmt.Fprintln(w, s.Commit(repo, query.Get("branch"), map[string]string{query.Get("path"): query.Get("content")}))
	default:
		http.Error(w, fmt.Sprintf("no page %q takes a POST", page), http.StatusNotFound)
	}
}
