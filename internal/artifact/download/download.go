package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// file brings a file into the folder of a commit. One process at a time works
// on a digest; who waited finds the file there.
func (f *fetch) file(ctx context.Context, commit string, file File) error {
	unlock, err := f.cache.lock(ctx, file.Digest)
	if err != nil {
		return err
	}
	defer unlock()
	before := f.progress.Done
	have, err := f.cache.hasBlob(ctx, file)
	if err == nil && !have {
		err = f.download(ctx, commit, file, before)
	}
	if err == nil {
		err = f.cache.link(commit, file)
	}
	if err != nil {
		return err
	}
	f.report(file, before, file.Size)
	return nil
}

func (f *fetch) report(file File, before, done int64) {
	f.progress.File, f.progress.FileSize, f.progress.FileDone, f.progress.Done = file.Name, file.Size, done, before+done
	if f.Progress != nil {
		f.Progress(f.progress)
	}
}

func (f *fetch) download(ctx context.Context, commit string, file File, before int64) error {
	p, err := f.cache.part(file)
	if err != nil {
		return err
	}
	defer p.Close()
	p.url = f.address != nil
	var best int64
	err = f.retry(ctx, func() (bool, error) {
		reached, whole, err := f.receive(ctx, p, commit, before)
		if err == nil {
			err = p.verify(ctx, whole)
		}
		closer := reached >= best+useful // than ever: a server that ignores Range brings the same bytes each time
		best = max(best, reached)
		return closer, err
	})
	if err != nil {
		return err
	}
	return p.finish()
}

// receive appends to the partial file what is missing, or writes it anew if the
// server does not go on where it ended: a server may ignore Range, and does
// where the file is another one than If-Range names (RFC 9110, 13.1.5). whole
// says that the file came in one piece, and reached how much of it is there.
func (f *fetch) receive(ctx context.Context, p *part, commit string, before int64) (reached int64, whole bool, err error) {
	at, err := p.end()
	if err != nil || at == p.file.Size {
		return at, false, err
	}
	w := f.watch(ctx)
	defer w.stop()
	check := p.file.confirm(commit)
	if f.address != nil {
		check = nil // a URL may lead to a hub, whose commit is not the digest
	}
	response, err := f.send(w, f.fileURL(commit, p.file.Name), p.ranges(at), check)
	if err != nil {
		return 0, false, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusPartialContent:
		err = p.goesOn(response.Header, at)
	case http.StatusOK:
		at, err = 0, p.start(response)
	case http.StatusRequestedRangeNotSatisfiable:
		err = p.drop(errors.New("the server does not have the rest of the file"))
	default:
		err = f.refusal(response)
	}
	if err != nil {
		return 0, false, err
	}
	reached, err = p.fill(watched{response.Body, w}, at, func(done int64) { f.report(p.file, before, done) })
	if _, local := errors.AsType[localError](err); err != nil && !local {
		err = w.broken(err, response.Request.URL)
	}
	return reached, at == 0, err
}

// confirm compares what the hub's answer for a file says of it with the
// listing (huggingface_hub, constants.py and file_download.py:
// get_hf_file_metadata). Mirrors may leave the headers out.
func (f File) confirm(commit string) func(http.Header) error {
	return func(h http.Header) error {
		size := h.Get("X-Linked-Size")
		digest := strings.Trim(strings.TrimPrefix(h.Get("X-Linked-Etag"), "W/"), `"`)
		switch c := h.Get("X-Repo-Commit"); {
		case c != "" && c != commit:
			return fmt.Errorf("asked for commit %s the hub sends %.80q: check the endpoint", commit, c)
		case size != "" && size != strconv.FormatInt(f.Size, 10):
			return fmt.Errorf("listed with %d bytes, the hub sends %.40q: check the endpoint", f.Size, size)
		case f.large() && digest != "" && digest != f.Digest:
			return fmt.Errorf("listed with digest %s, the hub sends %.80q: check the endpoint", f.Digest, digest)
		}
		return nil
	}
}

// ranges asks for what follows the first bytes, of the same file that they are of.
func (p *part) ranges(at int64) http.Header {
	h := http.Header{}
	if at > 0 {
		h.Set("Range", fmt.Sprintf("bytes=%d-", at))
		if tag := p.tag(); tag != "" {
			h.Set("If-Range", tag)
		}
	}
	return h
}

var contentRange = lazyregexp.New(`^bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)$`)

// goesOn checks that an answer is the rest of the file that the first bytes
// are of.
func (p *part) goesOn(h http.Header, at int64) error {
	m := contentRange.FindStringSubmatch(h.Get("Content-Range"))
	size := strconv.FormatInt(p.file.Size, 10)
	tag, known := h.Get("Etag"), p.tag()
	if at == 0 || m == nil || m[1] != strconv.FormatInt(at, 10) || m[3] != size && m[3] != "*" || known != "" && tag != "" && tag != known {
		return p.drop(fmt.Errorf("asked for the bytes from %d of %s the server sends others", at, size))
	}
	return encoded(h)
}

// start begins the partial file anew with an answer that has all of it.
func (p *part) start(r *http.Response) error {
	if r.ContentLength >= 0 && r.ContentLength != p.file.Size {
		return fmt.Errorf("listed with %d bytes, the server sends %d: check the endpoint, or size", p.file.Size, r.ContentLength)
	}
	if err := encoded(r.Header); err != nil {
		return err
	}
	tag := r.Header.Get("Etag")
	if strings.HasPrefix(tag, "W/") || len(tag) > maxTag {
		tag = "" // a weak one does not promise the same bytes
	}
	return p.restart(tag)
}

func encoded(h http.Header) error {
	if e := h.Get("Content-Encoding"); e != "" && e != "identity" {
		return fmt.Errorf("the server sends the file as %.40q without being asked: check the proxy", e)
	}
	return nil
}

// localError is an error of this machine, which no server mends.
type localError struct{ error }

func (e localError) Unwrap() error { return e.error }

// fill writes the rest of the file from r and returns how far it came.
func (p *part) fill(r io.Reader, at int64, report func(done int64)) (reached int64, err error) {
	buffer := make([]byte, 256<<10)
	reported := at
	for at < p.file.Size {
		n, err := r.Read(buffer[:min(int64(len(buffer)), p.file.Size-at)])
		if n > 0 {
			if _, err := p.Write(buffer[:n]); err != nil {
				return at, localError{unwritable(err)}
			}
			at += int64(n)
		}
		if at-reported >= useful {
			report(at)
			reported = at
		}
		if err == io.EOF && at < p.file.Size {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && at < p.file.Size {
			return at, err
		}
	}
	return at, nil
}
