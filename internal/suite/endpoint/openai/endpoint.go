package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// CheckURL returns what is wrong with a server's URL, nil if nothing is. It sends
// nothing, and quotes no password that the URL may hold.
func CheckURL(base string) error {
	_, err := parseRoot(base)
	return err
}

// parseRoot returns the server's root, in its canonical spelling: scheme and
// host in lower case, no default port, no trailing slash, no /v1 and no
// endpoint's path. Its errors are those of CheckURL.
func parseRoot(base string) (string, error) {
	if base == "" {
		return "", errors.New("no URL of a server: give one, such as http://127.0.0.1:8000, with --base-url")
	}
	shown := shownURL(base)
	if !strings.Contains(base, "://") {
		return "", fmt.Errorf("base URL %.200q has no scheme: write http://%.200s, or https:// for TLS", shown, shown)
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", fmt.Errorf("base URL %.200q is not a URL: write it as http://HOST:PORT", shown)
	case u.User != nil:
		return "", errors.New(
			"the base URL holds a user or a password: take them out, and name the variable that holds the key with --api-key-env",
		)
	case !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https"):
		return "", fmt.Errorf("base URL %.200q is neither http nor https: write it as http://HOST:PORT", shown)
	case u.Hostname() == "":
		return "", fmt.Errorf("base URL %.200q names no host: write it as http://HOST:PORT", shown)
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery || strings.HasSuffix(base, "#"):
		return "", fmt.Errorf("base URL %.200q has a query or a fragment: leave out what follows ? or #", shown)
	}
	return canonicalRoot(u), nil
}

const hidden = "..."

// shownURL is what may be shown of a URL: all of it, unless a character tells
// that it may hold a password or a key; then scheme and host. An @ after the
// host may be part of a path, or end a password with a slash: no host then.
func shownURL(base string) string {
	if !strings.ContainsAny(base, "@?#") {
		return base
	}
	scheme, rest, cut := strings.Cut(base, "://")
	if !cut {
		scheme, rest = "", base
	} else if strings.ContainsFunc(scheme, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) {
		return hidden
	} else {
		scheme += "://"
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if strings.Contains(rest[end:], "@") {
		return scheme + hidden
	}
	return scheme + rest[strings.LastIndex(rest[:end], "@")+1:end]
}

func canonicalRoot(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		port = ""
	}
	switch {
	case port != "":
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	for _, end := range []string{"/chat/completions", "/completions", "/models"} {
		if cut, ok := strings.CutSuffix(path, "/v1"+end); ok {
			path = cut
		}
	}
	path = strings.TrimSuffix(path, "/v1")
	return scheme + "://" + host + strings.TrimRight(path, "/")
}

// EndpointHash is the SHA-256, in hexadecimal, of the canonical base URL
// without credentials: equal for every spelling of one server. It is "" for
// an invalid URL.
func EndpointHash(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(canonicalRoot(u)))
	return hex.EncodeToString(sum[:])
}
