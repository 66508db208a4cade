package cli

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats/signature"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
)

const signHelp = `Sign files, such as run.json, envelopes and baselines, with ed25519, or verify
their signatures. The signature of FILE is FILE.sig: base64 of the 64 bytes that
openssl pkeyutl -verify -rawin reads.

  accelgate sign --new-key sign.pem
  accelgate sign --key sign.pem results/run.json
  accelgate sign --key env:SIGNING_KEY results/*.json
  accelgate sign --verify sign.pub.pem results/run.json
  accelgate diff --verify=sign.pub.pem before/run.json after/run.json

A key is PEM: a file, or with env: a variable, which no measured program gets.
A signature that is absent or of another content or key is exit 3.`

// signing is what sign was asked for.
type signing struct{ key, verify, newKey string }

func (c *Command) signCommand() *cobra.Command {
	var s signing
	cmd := &cobra.Command{
		Use:   "sign [FILE...]",
		Short: "Sign files, or verify their signatures",
		Long:  signHelp,
		RunE:  func(_ *cobra.Command, args []string) error { return c.sign(&s, args) },
	}
	f := cmd.Flags()
	f.StringVar(&s.key, "key", "", "private `key` to sign with: a PEM file, or env:NAME")
	f.StringVar(&s.verify, "verify", "", "public `key` to verify with: a PEM file, or env:NAME")
	f.StringVar(&s.newKey, "new-key", "", "write a new private key to `file`, and the public one to FILE.pub.pem")
	return cmd
}

func (c *Command) sign(s *signing, args []string) error {
	given := 0
	for _, flag := range []string{s.key, s.verify, s.newKey} {
		if flag != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return exit.Usagef("give one of --key, --verify and --new-key: see 'accelgate sign --help'")
	case s.newKey != "" && len(args) > 0:
		return exit.Usagef("--new-key signs nothing: leave %s out, and sign it with --key", text.OneLine(args[0]))
	case s.newKey != "":
		return c.writeKeys(s.newKey)
	case len(args) == 0:
		return exit.Usagef("no file given: name the files to sign or to verify")
	case s.verify != "":
		return c.verifyFiles(s.verify, args)
	}
	key, err := c.privateKey("--key", s.key)
	if err != nil {
		return err
	}
	if err := signFiles(key, args); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "signed: %s\n", text.Plural(len(args), "file"))
	return err
}

// writeKeys writes a new pair of keys, and never over a file.
func (c *Command) writeKeys(path string) error {
	public := strings.TrimSuffix(path, ".pem") + ".pub.pem"
	private, open, err := signature.NewKey()
	if err != nil {
		return err
	}
	for _, f := range []struct {
		path string
		data []byte
		mode os.FileMode
	}{{path, private, 0o600}, {public, open, 0o644}} {
		if err := writeNew(f.path, f.data, f.mode); err != nil {
			return exit.Usagef("write the key: %w: choose another name with --new-key", err)
		}
	}
	_, err = fmt.Fprintf(c.Stdout, "written: %s (keep it secret) and %s\nNext: accelgate sign --key %s FILE\n", path, public,
		text.ShellWord(path))
	return err
}

func writeNew(path string, data []byte, mode os.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// keyText reads a key from a file or, as env:NAME, from a variable.
func (c *Command) keyText(flag, from string) ([]byte, error) {
	name, isVariable := strings.CutPrefix(from, "env:")
	if !isVariable {
		data, err := signature.ReadKey(from)
		if err != nil {
			return nil, exit.Usagef("%s: %w: name a PEM file, or env:NAME", flag, err)
		}
		return data, nil
	}
	value := c.Getenv(name)
	if value == "" {
		return nil, exit.Usagef("%s: the variable %s is not set: set it to a key as PEM", flag, text.OneLine(name))
	}
	return []byte(value), nil
}

func (c *Command) privateKey(flag, from string) (ed25519.PrivateKey, error) {
	data, err := c.keyText(flag, from)
	if err != nil {
		return nil, err
	}
	key, err := signature.ParsePrivate(data)
	if err != nil {
		return nil, exit.Usagef("%s %s: %w", flag, text.OneLine(from), err)
	}
	return key, nil
}

func (c *Command) publicKey(flag, from string) (ed25519.PublicKey, error) {
	data, err := c.keyText(flag, from)
	if err != nil {
		return nil, err
	}
	key, err := signature.ParsePublic(data)
	if err != nil {
		return nil, exit.Usagef("%s %s: %w", flag, text.OneLine(from), err)
	}
	return key, nil
}

// readSigned reads a file to sign or to verify.
func readSigned(path string) ([]byte, error) {
	data, err := suite.ReadResult(path, path, bench.MaxRunBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Usagef("%w: name a file", err)
	}
	return data, err
}

// signFiles writes the signature of each file beside it.
func signFiles(key ed25519.PrivateKey, paths []string) error {
	for _, path := range paths {
		if strings.HasSuffix(path, signature.Suffix) {
			return exit.Usagef("%s is a signature: name the file that it is of", text.OneLine(path))
		}
		data, err := readSigned(path)
		if err != nil {
			return err
		}
		if err := atomicfile.Write(path+signature.Suffix, signature.Sign(key, data)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Command) verifyFiles(from string, paths []string) error {
	key, err := c.publicKey("--verify", from)
	if err != nil {
		return err
	}
	for _, path := range paths {
		data, err := readSigned(path)
		if err == nil {
			err = signature.VerifyFile(key, path, data)
		}
		if err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(c.Stdout, "verified: %s\n", text.Plural(len(paths), "file"))
	return err
}
