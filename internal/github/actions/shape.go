package actions

import (
	"net/url"
	"strconv"
	"strings"
)

// eventName reports whether s is the name of an event, such as pull_request.
func eventName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// sha reports whether s is the name of a commit, by SHA-1 or SHA-256.
func sha(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func positive(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && n > 0
}

// repository reports whether s is owner/name. Names of accounts have at most
// 39 characters and those of repositories at most 100.
func repository(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	owner, name, ok := strings.Cut(s, "/")
	return ok && owner != "" && len(owner) <= 39 && strings.Trim(owner, letters+"-_") == "" &&
		name != "" && len(name) <= 100 && strings.Trim(name, letters+"-_.") == "" && name != "." && name != ".."
}

// login reports whether s is the name of an account; bots end in "[bot]".
func login(s string) bool {
	name := strings.TrimSuffix(s, "[bot]")
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// ref reports whether s can name a branch or a ref, by the rules of
// git-check-ref-format that matter to whoever prints or passes it on.
func ref(s string) bool {
	if s == "" || len(s) > 1024 || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "/") || strings.HasSuffix(s, "/") {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f || strings.IndexByte(`~^:?*[\`, s[i]) >= 0 {
			return false
		}
	}
	return !strings.Contains(s, "..") && !strings.Contains(s, "//") && !strings.Contains(s, "@{")
}

// address reports whether s is the base of a web address. Plain http is what
// servers on a desk use.
func address(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && u.RawQuery == "" &&
		u.Fragment == "" &&
		!strings.ContainsAny(s, " \"<>`\\")
}
