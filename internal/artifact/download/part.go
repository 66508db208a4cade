package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
)

const maxTag = 1000 // bytes of an ETag; a longer one is not kept

// part is a file that has not arrived in full, beside the file where it will be.
// Its first bytes are what they should be or its digest will tell. Who holds it
// holds the lock of its digest.
type part struct {
	*os.File
	cache cache
	file  File
	url   bool // the digest is the caller's
}

func (c cache) part(file File) (*part, error) {
	f, err := c.root.OpenFile(partPath(file), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, unwritable(err)
	}
	return &part{File: f, cache: c, file: file}, nil
}

func blobPath(f File) string { return path.Join("blobs", f.Digest) }
func partPath(f File) string { return blobPath(f) + ".part" }
func tagPath(f File) string  { return partPath(f) + ".etag" }

// end returns how much is there, and goes there to write.
func (p *part) end() (int64, error) {
	at, err := p.Seek(0, io.SeekEnd)
	if err == nil && at > p.file.Size {
		at, err = 0, p.restart("")
	}
	return at, err
}

// tag is the ETag of the answer that the bytes are of, "" if it is not known.
func (p *part) tag() string {
	text, _ := p.cache.read(tagPath(p.file), maxTag) // without it, the digest alone tells
	return string(text)
}

// restart forgets all bytes. The tag of the next ones is written before them,
// so that a kill never leaves them with another's.
func (p *part) restart(tag string) error {
	err := p.Truncate(0)
	if err == nil {
		_, err = p.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = p.cache.root.WriteFile(tagPath(p.file), []byte(tag), 0o644)
	}
	if err != nil {
		return unwritable(err)
	}
	return nil
}

// drop forgets all bytes, because of cause, so that the next attempt begins
// anew.
func (p *part) drop(cause error) error {
	if err := p.restart(""); err != nil {
		return err
	}
	return again{cause, 0}
}

// verify compares the file with its digest. What was put together of several
// answers is tried again, as one.
func (p *part) verify(ctx context.Context, whole bool) error {
	if _, err := p.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum, err := p.file.sum(ctx, p.File)
	if sum == p.file.Digest || err != nil {
		return err
	}
	cause := fmt.Errorf("its bytes do not have the digest %s that the hub lists: check the endpoint and the proxy", p.file.Digest)
	if p.url {
		cause = fmt.Errorf("its bytes do not have the digest %s, but %s: check the URL, and correct sha256 only if this file is meant",
			p.file.Digest, sum)
	}
	err = p.drop(cause)
	if retry, ok := errors.AsType[again](err); ok && whole {
		return retry.error
	}
	return err
}

// finish makes the file durable and gives it its place.
func (p *part) finish() error {
	err := p.Sync()
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = p.cache.root.Rename(partPath(p.file), blobPath(p.file))
	}
	if err != nil {
		return unwritable(err)
	}
	_ = p.cache.root.Remove(tagPath(p.file)) // the next part would overwrite it
	p.cache.sync("blobs")
	return nil
}
