package endpoint

import (
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// maxCertificates bounds a file of certificates, in bytes.
const maxCertificates = 4 << 20

// apply puts the settings into a client's options. Paths are relative to dir.
func (n *connection) apply(o *openai.Options, dir string) error {
	o.H2C = n.H2C
	o.KeyHeader, o.Header, o.Query = n.KeyHeader, http.Header{}, url.Values{}
	for name, value := range n.Headers {
		o.Header.Set(name, value)
	}
	for name, value := range n.Query {
		o.Query.Set(name, value)
	}
	if n.Socket != "" {
		o.Socket = within(dir, n.Socket)
	}
	if n.Proxy != "" {
		o.Proxy, _ = url.Parse(n.Proxy) // checkConnection has parsed it
	}
	if n.CAFile == "" {
		return nil
	}
	data, err := bounded(within(dir, n.CAFile), maxCertificates)
	if err != nil {
		return fmt.Errorf("connection.ca_file: %w: name a file of certificates", err)
	}
	o.RootCAs = x509.NewCertPool()
	if !o.RootCAs.AppendCertsFromPEM(data) {
		return fmt.Errorf("connection.ca_file: %s holds no PEM certificate: name the file of the authority that signed the server's",
			n.CAFile)
	}
	return nil
}

// bounded reads a regular file of most bytes.
func bounded(path string, maximum int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maximum+1))
	if err == nil && int64(len(data)) > maximum {
		err = fmt.Errorf("%s has more than %d bytes", path, maximum)
	}
	return data, err
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

var (
	headerName  = lazyregexp.New(`^[A-Za-z0-9-]+$`)
	headerValue = lazyregexp.New(`^[ -~]*$`)
)

// reserved are headers that accelgate sets itself, or that hold a key.
var reserved = []string{
	"Authorization", "Proxy-Authorization", "Cookie", "Host", "Content-Length", "Content-Type", "Accept", "Accept-Encoding",
	"Transfer-Encoding", "Connection",
}

func (b *body) checkConnection(c *config.Suite) error {
	n := &b.Connection
	if b.BaseURL == "" && (n.Socket != "" || n.Proxy != "" || n.CAFile != "") {
		return c.Errorf("connection", "is for a server that runs: set base_url, or remove ca_file, proxy and socket")
	}
	if n.H2C && (n.Proxy != "" || strings.HasPrefix(strings.ToLower(b.BaseURL), "https:")) {
		return c.Errorf("connection.h2c",
			"is for http:// and without a proxy: remove it; by TLS, HTTP/2 is used where the server offers it")
	}
	if n.Socket != "" && n.Proxy != "" {
		return c.Errorf("connection.proxy", "stands beside socket: keep one of the two")
	}
	if n.Proxy != "" {
		if u, err := url.Parse(n.Proxy); err != nil || u.Host == "" || u.User != nil ||
			!slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
			return c.Errorf("connection.proxy",
				"is not the URL of a proxy: write http://HOST:PORT, https:// or socks5://, without a user and a password")
		}
	}
	if n.KeyHeader != "" && (!headerName.MatchString(n.KeyHeader) || slices.Contains(reserved[3:], http.CanonicalHeaderKey(n.KeyHeader))) {
		return c.Errorf("connection.api_key_header", "%q is not a header for a key: write a name such as api-key", n.KeyHeader)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Headers)) {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !headerName.MatchString(name) || !headerValue.MatchString(n.Headers[name]):
			return c.Errorf("connection.headers", "%q or its value is not a header: write a name such as X-Tenant and a text on one line",
				name)
		case slices.Contains(reserved, canonical) || strings.EqualFold(name, n.KeyHeader):
			return c.Errorf("connection.headers",
				"%s is set by accelgate: name the variable of a key with api_key_env, and leave this header out", canonical)
		}
	}
	return nil
}
