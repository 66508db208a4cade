package githubtest

import (
	"net/http"
	"strings"
)

// downloadPart stands between a repository and the files of its releases, in
// addresses of the web site rather than of the API.
const downloadPart = "/releases/download/"

// release answers /owner/name/releases/download/TAG/FILE. It needs no token.
func (s *Server) release(path string, log *Request) response {
	repo, file, _ := strings.Cut(strings.TrimPrefix(path, "/"), downloadPart)
	tag, name, _ := strings.Cut(file, "/")
	log.Operation = "releases/download"
	if r := s.repos[strings.ToLower(repo)]; r != nil {
		if data, found := r.releases[tag][name]; found {
			return response{status: http.StatusOK, header: http.Header{"Content-Type": {"application/octet-stream"}}, body: data}
		}
	}
	return response{status: http.StatusNotFound, body: []byte("Not Found")}
}
