package signature

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
)

// Keys that openssl genpkey -algorithm ed25519 wrote, and what openssl pkeyutl -sign -rawin made
// of a text with them.
const (
	opensslPrivate = "-----BEGIN " + `PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIMymaU4/vINEz9NolHAc7/z5JPx3/V3gLlKuugL1cfQy
-----END PRIVATE KEY-----
`
	opensslPublic = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEANpHCJrsZ6Tz+pEOzH33U0gGA3tN/zdDutWE6Zsl2iXE=
-----END PUBLIC KEY-----
`
	opensslText      = "an envelope\n"
	opensslSignature = "dYXF4YAxudT4imlXLk5iXo1/vzZezzVY+H8iXoRAIlFpN4wDF98OmjUfZV+4PZi3eVFcx+XtJTzj5EY66ipbDA=="
)

func TestSignaturesAreThoseOfOpenSSL(t *testing.T) {
	key, err := ParsePrivate([]byte(opensslPrivate))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(Sign(key, []byte(opensslText)))); got != opensslSignature {
		t.Errorf("got %s, want %s", got, opensslSignature)
	}
	public, err := ParsePublic([]byte(opensslPublic))
	if err == nil {
		err = verify(public, []byte(opensslText), []byte(opensslSignature))
	}
	if err != nil {
		t.Error(err)
	}
}

func TestVerifyRefusesEverythingElse(t *testing.T) {
	private, public := pair(t)
	_, other := pair(t)
	data := []byte("numbers")
	signed := Sign(private, data)
	if err := verify(public, data, signed); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"content": verify(public, []byte("numbers "), signed), "key": verify(other, data, signed), "empty": verify(public, data, nil),
		"text": verify(public, data, []byte("not base64")), "short": verify(public, data, signed[:40]), "raw": verify(public, data, ed25519.Sign(private, data)),
	} {
		if err == nil {
			t.Errorf("another %s was accepted", name)
		}
	}
}

func pair(t *testing.T) (ed25519.PrivateKey, ed25519.PublicKey) {
	t.Helper()
	private, public, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParsePrivate(private)
	if err != nil {
		t.Fatal(err)
	}
	open, err := ParsePublic(public)
	if err != nil {
		t.Fatal(err)
	}
	return key, open
}

func TestKeysThatAreNone(t *testing.T) {
	private, public, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	foreign := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	for _, c := range []struct {
		data []byte
		want string
	}{{nil, "no PEM"}, {public, "name the private one"}, {foreign, "ed25519 is needed"},
		{pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte{1}}), "PKCS #8"}, {pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY"}), "encrypted"}} {
		if _, err := ParsePrivate(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	for _, data := range [][]byte{nil, private, foreign, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte{1}})} {
		if _, err := ParsePublic(data); err == nil {
			t.Errorf("%.30q is a public key", data)
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte(opensslPrivate))
	f.Add([]byte(opensslPublic))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if key, err := ParsePrivate(data); err == nil {
			Sign(key, data)
		}
		if key, err := ParsePublic(data); err == nil {
			_ = verify(key, data, data)
		}
	})
}
