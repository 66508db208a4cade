// Package tlstest listens by TLS, with a certificate that tests can trust.
package tlstest

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Listen listens on a free port for connections that agree on one of the protocols, and
// returns the authority of its certificate.
func Listen(t testing.TB, protocols ...string) (net.Listener, *x509.CertPool) {
	t.Helper()
	known := httptest.NewTLSServer(nil)
	known.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: known.TLS.Certificates, NextProtos: protocols})
	if err != nil {
		t.Fatal(err)
	}
	return listener, known.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
}
