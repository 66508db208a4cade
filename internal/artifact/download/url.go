package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// URL is one file at an address of http or https. Whoever serves it, its bytes
// have the digest.
type URL struct {
	Address string
	SHA256  string // 64 digits
	Size    int64  // bytes; 0 asks the server
	Name    string // that the file gets; "" for the last part of the address
}

// urlsName is the folder of a cache for files by URL. Its snapshots are named by
// digests.
const urlsName = "urls"

// Get returns the path in the cache of a file that is at a URL, getting it if it is
// missing. The token is not sent. Everything else is as with [Client.Fetch].
func (c *Client) Get(ctx context.Context, u URL) (path string, err error) {
	address, err := u.parse()
	if err == nil {
		anonymous := *c
		anonymous.Token = ""
		f := &fetch{Client: &anonymous, remote: remote{endpoint: address, address: address}, source: u, revision: u.SHA256,
			want: func(name string) bool { return name == u.name() }, cache: urlCache(c.Dir)}
		_, err = f.run(ctx)
	}
	if err != nil {
		return "", c.scrub(fmt.Errorf("get %.200q: %w", plain(address, u.Address), err))
	}
	return u.Path(c.Dir), nil
}

// Path is where a cache has the file.
func (u URL) Path(dir string) string {
	c := urlCache(dir)
	return filepath.Join(c.folder(u.SHA256), u.name())
}

func urlCache(dir string) cache {
	return cache{dir: dir, name: urlsName, path: filepath.Join(dir, urlsName)}
}

func (u URL) name() string {
	if u.Name != "" {
		return u.Name
	}
	address, err := url.Parse(u.Address)
	if err != nil {
		return "file"
	}
	if name := path.Base(address.Path); checkName(name) == nil && name != "." && name != "/" {
		return name
	}
	return "file"
}

// Check reports what no server can mend.
func (u URL) Check() error {
	_, err := u.parse()
	return err
}

func (u URL) parse() (*url.URL, error) {
	address, err := url.Parse(u.Address)
	switch {
	case err != nil || address.Host == "" || address.User != nil || address.Scheme != "https" && address.Scheme != "http":
		return nil, errors.New("the URL is not a plain address: write https://HOST/PATH")
	case !sha256Hash.MatchString(u.SHA256):
		return nil, fmt.Errorf("%.80q is not a SHA-256: write 64 digits from 0 to f", u.SHA256)
	case strings.Contains(u.name(), "/") || u.name() == ".":
		return nil, fmt.Errorf("%.80q is not the name of a file: write one without slashes", u.name())
	}
	address.Fragment = ""
	return address, checkName(u.name())
}

// plain is an address for messages: a query may hold a signature.
func plain(u *url.URL, otherwise string) string {
	if u == nil {
		var err error
		if u, err = url.Parse(otherwise); err != nil {
			return "a URL"
		}
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// described is the listing of one file at a URL, beside the names that other URLs
// gave the same bytes.
func (f *fetch) described(ctx context.Context) (Info, error) {
	file := File{Name: f.source.name(), Size: f.source.Size, Digest: f.source.SHA256}
	info := Info{Commit: f.source.SHA256}
	if old, err := f.cache.record(f.source.SHA256); err == nil {
		for _, other := range old.Files {
			if other.Name != file.Name {
				info.Files = append(info.Files, other)
			}
			if old.verified[other] {
				file.Size = cmp.Or(file.Size, other.Size)
			}
		}
	}
	var err error
	if file.Size <= 0 {
		err = f.retry(ctx, func() (bool, error) {
			file.Size, err = f.size(ctx)
			return false, err
		})
	}
	info.Files = append(info.Files, file)
	return info, err
}

// size asks a server how many bytes a file has: for one byte, as addresses that were
// signed for GET often refuse HEAD.
func (f *fetch) size(ctx context.Context) (int64, error) {
	w := f.watch(ctx)
	defer w.stop()
	response, err := f.send(w, f.address, http.Header{"Range": {"bytes=0-0"}}, nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	size := int64(-1)
	switch m := contentRange.FindStringSubmatch(response.Header.Get("Content-Range")); {
	case response.StatusCode == http.StatusOK:
		size = response.ContentLength
	case response.StatusCode == http.StatusPartialContent && m != nil && m[3] != "*":
		size, _ = strconv.ParseInt(m[3], 10, 64) // at most 18 digits
	case response.StatusCode == http.StatusRequestedRangeNotSatisfiable && response.Header.Get("Content-Range") == "bytes */0":
		size = 0
	case response.StatusCode != http.StatusPartialContent:
		return 0, f.refusal(response)
	}
	if size < 0 {
		return 0, errors.New("the server sends no length of the file: give its size")
	}
	return size, nil
}
