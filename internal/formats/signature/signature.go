// Package signature signs files with ed25519 and verifies them. A signature
// stands in a file of its own, FILE.sig: base64 of the 64 bytes over the content,
// as openssl pkeyutl -rawin reads them. Keys are PEM, private ones PKCS #8 and public
// ones PKIX. It is pure but for the files of keys.
package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
)

// Suffix ends the name of a file of a signature.
const Suffix = ".sig"

// maxKey bounds a file of a key, and of a signature.
const maxKey = 64 << 10

// NewKey returns a fresh private key and its public one, as PEM.
func NewKey() (private, public []byte, err error) {
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	derPublic, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: derPublic}), nil
}

// ParsePrivate reads a private key. No error quotes it.
func ParsePrivate(data []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(data)
	switch {
	case block == nil:
		return nil, errors.New("it holds no PEM: write a key with 'accelgate sign --new-key FILE'")
	case block.Type == "PUBLIC KEY":
		return nil, errors.New("it is a public key: name the private one")
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("it is encrypted: decrypt it into a variable first, and write env:NAME")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is not a private key of PKCS #8: write one with 'accelgate sign --new-key FILE'")
	}
	if ours, ok := key.(ed25519.PrivateKey); ok {
		return ours, nil
	}
	return nil, fmt.Errorf("it is a key of the type %T, and ed25519 is needed: write one with 'accelgate sign --new-key FILE'", key)
}

// ParsePublic reads a public key.
func ParsePublic(data []byte) (ed25519.PublicKey, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("it holds no public key as PEM: name the .pub.pem that 'accelgate sign --new-key' wrote")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if ours, ok := key.(ed25519.PublicKey); ok && err == nil {
		return ours, nil
	}
	return nil, errors.New("it is not a public key of ed25519: name the .pub.pem that 'accelgate sign --new-key' wrote")
}

// Sign returns the content of the file of the signature.
func Sign(key ed25519.PrivateKey, data []byte) []byte {
	return append([]byte(base64.StdEncoding.EncodeToString(ed25519.Sign(key, data))), '\n')
}

// verify returns an error unless signed, the content of a file of a signature, is
// that of data by the owner of the key.
func verify(key ed25519.PublicKey, data, signed []byte) error {
	raw, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(signed)))
	if err != nil || len(raw) != ed25519.SignatureSize {
		return errors.New("it is not a signature: sign the file again with 'accelgate sign'")
	}
	if !ed25519.Verify(key, data, raw) {
		return errors.New("the signature is of another content or key: take the original, or the key that signed it")
	}
	return nil
}

// VerifyFile holds the content of a file against FILE.sig beside it.
func VerifyFile(key ed25519.PublicKey, path string, data []byte) error {
	signed, err := ReadKey(path + Suffix)
	if err != nil {
		return fmt.Errorf("%s is not signed: %w: bring its .sig along, or sign it with 'accelgate sign'", path, err)
	}
	if err := verify(key, data, signed); err != nil {
		return fmt.Errorf("%s: %w", path+Suffix, err)
	}
	return nil
}

// ReadKey reads a small file.
func ReadKey(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxKey+1))
	if err == nil && len(data) > maxKey {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxKey)
	}
	return data, err
}
