package github

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// ErrForbidden marks the errors of a token that may not do what was asked:
// read-only, expired, or without the permission. The rest of the message says
// what to change. Test for it with errors.Is.
var ErrForbidden = errors.New("the token may not do this")

// explain wraps an error of the API with what was being done. permission is
// what the token needs for it, as written in a workflow file.
func explain(doing, permission string, err error) error {
	if errors.Is(err, ErrForbidden) {
		return fmt.Errorf("%s: %w", doing, err) // which has been explained
	}
	if hint := remedy(permission, err); hint != "" {
		return fmt.Errorf("%s: %w: %w: %s", doing, ErrForbidden, err, hint)
	}
	var unreachable *url.Error
	switch code := status(err); {
	case limited(err):
		return fmt.Errorf("%s: %w: run it again when the limit is over", doing, err)
	case errors.As(err, &unreachable) && passing(err):
		return fmt.Errorf("%s: %w: check the network and GITHUB_API_URL", doing, err)
	case code == http.StatusNotFound:
		return fmt.Errorf("%s: %w: check the name, and that the token may read it", doing, err)
	case code >= http.StatusInternalServerError:
		return fmt.Errorf("%s: %w: GitHub has a problem, run it again later", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// explainIf is explain for what may have succeeded.
func explainIf(doing, permission string, err error) error {
	if err == nil {
		return nil
	}
	return explain(doing, permission, err)
}

// limited reports whether GitHub refused because of too many requests.
func limited(err error) bool {
	var primary *gh.RateLimitError
	var secondary *gh.AbuseRateLimitError
	var failed *gh.ErrorResponse
	return errors.As(err, &primary) || errors.As(err, &secondary) ||
		status(err) == http.StatusTooManyRequests ||
		status(err) == http.StatusForbidden && errors.As(err, &failed) && strings.Contains(failed.Message, "rate limit")
}

// remedy returns what to change so that the token may do it, or "" where err is
// of another kind.
func remedy(permission string, err error) string {
	var failed *gh.ErrorResponse
	if !errors.As(err, &failed) || failed.Response == nil || limited(err) {
		return ""
	}
	grant := fmt.Sprintf("add %q to the job's permissions; the token of a pull request from a fork never gets it", permission)
	if permission == "" {
		grant = "set the input token-author to the login that the token acts as" // who it is was asked for
	}
	switch {
	case failed.Response.StatusCode == http.StatusUnauthorized:
		return "it is wrong, revoked or expired: pass one that is valid here, for example github-token: ${{ github.token }}"
	case strings.Contains(failed.Message, "not permitted to create or approve pull requests"):
		return allowPulls
	case strings.Contains(failed.Message, "authenticate via a GitHub App"):
		return "check runs need the workflow's own token: pass github-token: ${{ github.token }}"
	case strings.Contains(failed.Message, "locked"):
		return "unlock the conversation of the pull request, then run it again"
	case failed.Response.StatusCode == http.StatusForbidden:
		return grant
	case failed.Response.StatusCode == http.StatusNotFound && writes(failed.Response):
		return "check that it exists, and " + grant // GitHub hides what a token may not see
	}
	return ""
}

func writes(r *http.Response) bool {
	return r.Request != nil && r.Request.Method != http.MethodGet
}

// status returns the HTTP status an error stands for, or 0.
func status(err error) int {
	var failed *gh.ErrorResponse
	if errors.As(err, &failed) && failed.Response != nil {
		return failed.Response.StatusCode
	}
	return 0
}

// rejected reports whether GitHub answered 422 with this text in its message
// or in one of its errors.
func rejected(err error, text string) bool {
	var failed *gh.ErrorResponse
	if status(err) != http.StatusUnprocessableEntity || !errors.As(err, &failed) {
		return false
	}
	return strings.Contains(failed.Message, text) ||
		slices.ContainsFunc(failed.Errors, func(e gh.Error) bool { return strings.Contains(e.Message, text) })
}
