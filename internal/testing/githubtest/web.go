package githubtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// inspectPrefix is where scripts look into the server. These addresses need no
// token and are no part of GitHub's API.
const inspectPrefix = "/_fake/"

// inspect answers:
//
//	/_fake/comments?repo=owner/name&issue=1
//	/_fake/commit-comments?repo=owner/name&sha=ID
//	/_fake/pulls?repo=owner/name
//	/_fake/checks?repo=owner/name&sha=ID
//	/_fake/head?repo=owner/name&branch=main             the commit's id
//	/_fake/files?repo=owner/name&branch=main            one path per line
//	/_fake/files?repo=owner/name&branch=main&path=FILE  what is in the file
//	/_fake/reactions?repo=owner/name&comment=ID         "login: content", one per line
//	/_fake/dispatches                                   what was asked of workflows, in JSON
//	/_fake/requests                                     one request per line
//	/_fake/violations                                   one violation per line
//
// Comments, pulls, checks and dispatches are in JSON, the others in plain text.
func (s *Server) inspect(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	repo, branch := query.Get("repo"), query.Get("branch")
	page := strings.TrimPrefix(r.URL.Path, inspectPrefix)
	if s.inspectAll(w, page) {
		return
	}
	known := false
	s.view(repo, func(*repository) { known = true })
	if !known {
		http.Error(w, fmt.Sprintf("no repository %q: give repo=owner/name", repo), http.StatusNotFound)
		return
	}
	if r.Method == http.MethodPost {
		s.act(w, page, repo, query)
		return
	}
	switch page {
	case "comments":
		issue, _ := strconv.Atoi(query.Get("issue"))
		writeJSON(w, s.Comments(repo, issue))
	case "commit-comments":
		writeJSON(w, s.CommitComments(repo, query.Get("sha")))
	case "pulls":
		writeJSON(w, s.PullRequests(repo))
	case "checks":
		writeJSON(w, s.CheckRuns(repo, query.Get("sha")))
	case "reactions":
		comment, _ := strconv.ParseInt(query.Get("comment"), 10, 64)
		writeLines(w, s.Reactions(repo, comment))
	case "head":
		fmt.Fprintln(w, s.Head(repo, branch))
	case "files":
		if !query.Has("path") {
			writeLines(w, s.Files(repo, branch))
			return
		}
		content, found := s.File(repo, branch, query.Get("path"))
		if !found {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, content) // the client may be gone
	default:
		http.NotFound(w, r)
	}
}

// inspectAll answers what is of no repository, and reports whether it did.
func (s *Server) inspectAll(w http.ResponseWriter, page string) bool {
	switch page {
	case "requests":
		for _, request := range s.Requests() {
			fmt.Fprintln(w, request)
		}
	case "violations":
		writeLines(w, s.Violations())
	case "dispatches":
		writeJSON(w, s.Dispatches())
	default:
		return false
	}
	return true
}

func writeLines(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
}

// writeJSON writes a list indented and with < and > as they are, so that
// scripts can search it.
func writeJSON[T any](w http.ResponseWriter, all []T) {
	if all == nil {
		all = []T{}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(all) // the client may be gone
}
