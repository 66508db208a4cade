package download

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// matches reads r to its end and reports whether it is the file. Large files
// have their SHA-256; of others the digest is git's: the SHA-1 of a header with
// the size, and the content (git-scm.com/book/en/v2/Git-Internals-Git-Objects).
func (f File) matches(ctx context.Context, r io.Reader) (bool, error) {
	sum, err := f.sum(ctx, r)
	return sum == f.Digest, err
}

// sum reads r to its end and returns its digest, of the kind that the file's is.
func (f File) sum(ctx context.Context, r io.Reader) (string, error) {
	var sum hash.Hash
	if f.large() {
		sum = sha256.New()
	} else {
		sum = sha1.New()
		fmt.Fprintf(sum, "blob %d\x00", f.Size)
	}
	_, err := io.Copy(sum, contextReader{ctx, r})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// contextReader ends a long reading when ctx is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
