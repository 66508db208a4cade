package download

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Info is what a hub says of a model at a revision.
type Info struct {
	Commit string // 40 hexadecimal digits
	Files  []File // in the hub's order, each name once
}

// File is a file of a model.
type File struct {
	Name   string // with slashes; it never leads out of a folder
	Size   int64  // bytes; -1 if the hub does not say
	Digest string // SHA-256 (64 digits) of a large file, SHA-1 as git has it (40) of another, "" if the hub does not say
}

// listing is the hub's answer, of which huggingface_hub reads the same
// (hf_api.py: ModelInfo, RepoSibling, BlobLfsInfo).
type listing struct {
	SHA      string    `json:"sha"`
	Siblings []sibling `json:"siblings"`
}

type sibling struct {
	Name   string `json:"rfilename"`
	Size   *int64 `json:"size,omitempty"`
	BlobID string `json:"blobId,omitempty"` // of the pointer, if lfs is there
	LFS    *lfs   `json:"lfs,omitempty"`
}

type lfs struct {
	SHA256 string `json:"sha256"`
	Size   *int64 `json:"size,omitempty"`
}

// ParseInfo reads the hub's answer for a model, of at most MaxInfo bytes. Names
// that lead elsewhere, occur twice or are too many, sizes below zero and
// malformed digests are errors; absent sizes and digests are not, because a file
// that is not wanted needs none.
func ParseInfo(text []byte) (Info, error) {
	info, err := parse(text)
	if err == nil && !isCommit(info.Commit) {
		return Info{}, fmt.Errorf("the listing is of %.80q, which is not a commit: check the endpoint", info.Commit)
	}
	return info, err
}

// parse is ParseInfo where the commit may be a digest.
func parse(text []byte) (Info, error) {
	if len(text) > MaxInfo {
		return Info{}, fmt.Errorf("a listing of more than %d bytes: name another model", MaxInfo)
	}
	var l listing
	if err := json.Unmarshal(text, &l); err != nil {
		return Info{}, errors.New("the listing is not JSON as the hub writes it: check the endpoint")
	}
	if !pinned(l.SHA) {
		return Info{}, fmt.Errorf("the listing is of %.80q, which is not a commit: check the endpoint", l.SHA)
	}
	if len(l.Siblings) > MaxListed {
		return Info{}, fmt.Errorf("%d files, of which at most %d are read: name another model", len(l.Siblings), MaxListed)
	}
	info := Info{Commit: l.SHA, Files: make([]File, 0, len(l.Siblings))}
	seen := map[string]bool{}
	for _, s := range l.Siblings {
		f, err := s.file()
		if err == nil && seen[s.Name] {
			err = errors.New("is listed twice: check the endpoint")
		}
		if err != nil {
			return Info{}, fmt.Errorf("%.80q: %w", s.Name, err)
		}
		seen[s.Name] = true
		info.Files = append(info.Files, f)
	}
	return info, nil
}

func (s sibling) file() (File, error) {
	if !fs.ValidPath(s.Name) || s.Name == "." {
		return File{}, errors.New("no name of a file below the model: check the endpoint")
	}
	f := File{Name: s.Name, Size: -1, Digest: s.BlobID}
	if s.Size != nil {
		f.Size = *s.Size
	}
	form := commitHash
	if s.LFS != nil {
		f.Digest, form = s.LFS.SHA256, sha256Hash
		if f.Size < 0 && s.LFS.Size != nil {
			f.Size = *s.LFS.Size
		}
		if s.LFS.Size != nil && *s.LFS.Size != f.Size {
			return File{}, fmt.Errorf("is listed with %d and with %d bytes: check the endpoint", f.Size, *s.LFS.Size)
		}
	}
	if f.Size < -1 || s.Size != nil && *s.Size < 0 {
		return File{}, errors.New("is listed with a size below zero: check the endpoint")
	}
	if f.Digest != "" && !form.MatchString(f.Digest) {
		return File{}, fmt.Errorf("is listed with %.80q, which is not a digest: check the endpoint", f.Digest)
	}
	return f, nil
}

// check reports whether a file can be had: its name, and that its bytes can be
// verified.
func (f File) check() error {
	if f.Size < 0 || f.Digest == "" {
		return fmt.Errorf("%.80q is listed without size or digest: use an endpoint that answers ?blobs=true", f.Name)
	}
	return checkName(f.Name)
}

// large reports whether the file is stored outside git, by its SHA-256.
func (f File) large() bool { return len(f.Digest) == 64 }

// sibling is the file as ParseInfo reads it.
func (f File) sibling() sibling {
	s := sibling{Name: f.Name}
	if f.Size >= 0 {
		s.Size = &f.Size
	}
	if f.large() {
		s.LFS = &lfs{SHA256: f.Digest}
	} else {
		s.BlobID = f.Digest
	}
	return s
}
