package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestDuplicateBesideARefusedListing: a comment was created twice by a proxy that
// delivered the request again, and the listing after it was refused once: two
// comments stayed.
func TestDuplicateBesideARefusedListing(t *testing.T) {
	t.Parallel()
	for kind, token := range stepTokens {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, token, strings.ReplaceAll(expectingConfig, "%s", ""), map[string]string{"b": "b"})
			created, refused := false, false
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				comments := strings.HasSuffix(r.URL.Path, "/issues/1/comments")
				if comments && r.Method == http.MethodGet && created && !refused {
					refused = true
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusForbidden)
					_, _ = io.WriteString(w, `{"message": "Resource not accessible"}`)
					return
				}
				if comments && r.Method == http.MethodPost {
					created = true
					body, _ := io.ReadAll(r.Body)
					again := r.Clone(r.Context())
					again.Body = io.NopCloser(bytes.NewReader(body))
					s.ServeHTTP(httptest.NewRecorder(), again)
					r.Body = io.NopCloser(bytes.NewReader(body))
				}
				s.ServeHTTP(w, r)
			}))
			defer proxy.Close()
			s.env["GITHUB_API_URL"] = proxy.URL
			s.run(t.Context())
			if comments := s.server.Comments("octo/repo", 1); len(comments) != 1 || !refused {
				t.Errorf("%d comments, want 1; a listing was refused: %t\n%s", len(comments), refused, s.stderr.String())
			}
		})
	}
}
