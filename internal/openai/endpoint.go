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

// parseRoot returns the server's root, in its canonical spelling: scheme and
// host in lower case, no default port, no trailing slash, no /v1 and no
// endpoint's path. Its errors quote no URL that may hold a password.
func parseRoot(base string) (string, error) {
	shown := base
	if strings.Contains(base, "@") {
		shown = "..."
	}
	if base == "" {
		return "", errors.New("no URL of a server: give one, such as http://127.0.0.1:8000, with --base-url")
	}
	if !strings.Contains(base, "://") {
		return "", fmt.Errorf("base URL %.200q has no scheme: write http://%.200s, or https:// for TLS", shown, shown)
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", fmt.Errorf("base URL %.200q is no URL: write it as http://HOST:PORT", shown)
	case u.User != nil:
		return "", errors.New("the base URL holds a user or a password: take them out, and name the variable that holds the key with --api-key-env")
	case !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https"):
		return "", fmt.Errorf("base URL %.200q is neither http nor https: write it as http://HOST:PORT", shown)
	case u.Hostname() == "":
		return "", fmt.Errorf("base URL %.200q names no host: write it as http://HOST:PORT", shown)
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "", fmt.Errorf("base URL %.200q has a query or a fragment: leave out what follows ? or #", shown)
	}
	return canonicalRoot(u), nil
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
// what is no URL.
func EndpointHash(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(canonicalRoot(u)))
	return hex.EncodeToString(sum[:])
}
