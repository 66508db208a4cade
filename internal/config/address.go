package config

import (
	"net"
	"net/url"
	"strconv"
)

// httpURL reports whether text is the URL of an HTTP server.
func httpURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// hostPort reports whether text is HOST:PORT with a number as port.
func hostPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	n, bad := strconv.ParseUint(port, 10, 16)
	return err == nil && bad == nil && host != "" && n > 0
}
