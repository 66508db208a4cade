package safetensors

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/tensor"
)

// What a checkpoint's folder holds, as transformers names it
// (github.com/huggingface/transformers, utils/__init__.py: SAFE_WEIGHTS_NAME and
// SAFE_WEIGHTS_INDEX_NAME). Like there, the single file comes first.
const (
	singleFile = "model.safetensors"
	indexFile  = "model.safetensors.index.json"
)

// The limits of an index. The largest published models have some hundred
// shards and a hundred thousand tensors, which is an index of 10 MB.
const (
	MaxIndex  = 32 << 20 // bytes
	MaxShards = 4096
)

// Checkpoint is the tensors of a model in one file or several. Its methods may
// be called concurrently, but for Close.
type Checkpoint struct {
	shards   map[string]*File // by file name
	home     map[string]string
	unlisted []string
}

// Info describes a tensor of a checkpoint.
type Info struct {
	Name   string
	Format string       // as the file calls it, such as "BF16"
	DType  tensor.DType // not valid if there is none for Format
	Shape  []int        // may not be written
	Bytes  int64        // of its data
	File   string       // that holds it, without folder
}

// OpenCheckpoint opens a checkpoint, which must not change while it is open: a
// *.safetensors file, or a folder with model.safetensors, or one with
// model.safetensors.index.json and the shards that this names. Headers are
// read, data is mapped as [Open] does.
//
// An index is a stranger's: it names files of its own folder and nothing else,
// and what it says is checked against the shards' headers. A tensor that its
// shard does not have is an error, because the model would be incomplete;
// tensors of shards that the index does not name are left out and returned by
// [Checkpoint.Unlisted], because some writers leave buffers behind.
//
// Links may not lead out of the folder, but for those of Hugging Face's cache:
// in a folder snapshots/NAME beside a folder blobs they may lead anywhere into
// what holds both, which is the cache of this one model
// (huggingface.co/docs/hub/local-cache). Absolute links are never followed.
func OpenCheckpoint(path string) (*Checkpoint, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open checkpoint: %w: name a *.safetensors file, or a folder that has %s or %s", err, singleFile, indexFile)
	}
	c := &Checkpoint{shards: map[string]*File{}, home: map[string]string{}}
	if info.IsDir() {
		err = c.openFolder(path)
	} else {
		err = c.openFile(path)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Checkpoint) openFile(path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	c.own(filepath.Base(path), f)
	return nil
}

// own takes a file all of whose tensors are the checkpoint's.
func (c *Checkpoint) own(name string, f *File) {
	c.shards[name] = f
	for tensor := range f.tensors {
		c.home[tensor] = name
	}
}

func (c *Checkpoint) openFolder(path string) error {
	dir, err := openFolder(path)
	if err != nil {
		return fmt.Errorf("open checkpoint: %w", err)
	}
	defer dir.Close()
	if err := c.openIn(dir); err != nil {
		return fmt.Errorf("open checkpoint %s: %w", path, err)
	}
	return nil
}

func (c *Checkpoint) openIn(dir folder) error {
	f, err := dir.shard(singleFile)
	switch {
	case err == nil:
		c.own(singleFile, f)
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	text, err := dir.index()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("neither %s nor %s is there: name the folder of a model that is saved as safetensors", singleFile, indexFile)
	case err != nil:
		return err
	}
	if c.home, err = parseIndex(text); err != nil {
		return fmt.Errorf("read %s: %w", indexFile, err)
	}
	return c.openShards(dir)
}

func (c *Checkpoint) openShards(dir folder) error {
	for _, name := range slices.Compact(slices.Sorted(maps.Values(c.home))) {
		f, err := dir.shard(name)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s names %.80q, which is not there: get all files of the model", indexFile, name)
		} else if err != nil {
			return err
		}
		c.shards[name] = f
	}
	return c.agree()
}

// agree compares the index with the headers of its shards.
func (c *Checkpoint) agree() error {
	for _, name := range slices.Sorted(maps.Keys(c.home)) {
		if _, ok := c.shards[c.home[name]].tensors[name]; !ok {
			return fmt.Errorf("%s has %.80q in %.80q, which has no such tensor: get index and shards of the same revision", indexFile, name,
				c.home[name])
		}
	}
	for file, shard := range c.shards {
		for name := range shard.tensors {
			if c.home[name] != file {
				c.unlisted = append(c.unlisted, file+": "+name)
			}
		}
	}
	slices.Sort(c.unlisted)
	return nil
}

// Tensors describes all tensors, sorted by name, without reading their data.
func (c *Checkpoint) Tensors() []Info {
	list := make([]Info, 0, len(c.home))
	for name, file := range c.home {
		e := c.shards[file].tensors[name]
		list = append(list, Info{Name: name, Format: e.format, DType: e.DType, Shape: e.Shape, Bytes: int64(e.end - e.begin), File: file})
	}
	slices.SortFunc(list, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Unlisted returns tensors of the shards that the index does not name, each as
// "file: name", sorted. They are no part of the checkpoint, and a reason to warn.
func (c *Checkpoint) Unlisted() []string { return c.unlisted }

// Tensor returns a tensor as [File.Tensor] does; its Data aliases its file until
// Close.
func (c *Checkpoint) Tensor(name string) (tensor.Tensor, error) {
	file, ok := c.home[name]
	switch {
	case c.shards == nil:
		return tensor.Tensor{}, errors.New("the checkpoint is closed: read its tensors before")
	case !ok:
		return tensor.Tensor{}, fmt.Errorf("no tensor %.80q: the checkpoint has %s", name, some(slices.Sorted(maps.Keys(c.home))))
	}
	return c.shards[file].Tensor(name)
}

// Close gives all files back; the data of their tensors must no longer be used.
// It does nothing the second time.
func (c *Checkpoint) Close() error {
	var errs []error
	for _, f := range c.shards {
		errs = append(errs, f.Close())
	}
	c.shards, c.home, c.unlisted = nil, nil, nil
	return errors.Join(errs...)
}

// folder is a folder out of which no link leads further than to root.
type folder struct {
	*os.Root
	below string // the folder's path in root
}

func openFolder(path string) (folder, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return folder{}, err
	}
	snapshots, below := filepath.Dir(path), "."
	if blobs, err := os.Lstat(filepath.Join(snapshots, "..", "blobs")); err == nil && blobs.IsDir() &&
		filepath.Base(snapshots) == "snapshots" {
		below = filepath.Join("snapshots", filepath.Base(path))
		path = filepath.Dir(snapshots)
	}
	root, err := os.OpenRoot(path)
	return folder{root, below}, err
}

func (d folder) open(name string) (*os.File, error) {
	return d.OpenFile(filepath.Join(d.below, name), os.O_RDONLY|nonblock, 0)
}

func (d folder) shard(name string) (*File, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: put the file itself, or a link within the folder, under this name", err)
	}
	defer f.Close()
	file, err := parse(f, math.MaxInt, mapFile)
	if err != nil {
		return nil, fmt.Errorf("read %.80q: %w", name, err)
	}
	return file, nil
}

func (d folder) index() ([]byte, error) {
	f, err := d.open(indexFile)
	if err != nil {
		return nil, fmt.Errorf("%w: put the file itself, or a link within the folder, under this name", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: %w", indexFile, cmp.Or(err, errNotRegular))
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxIndex+1))
	if err == nil && len(text) > MaxIndex {
		err = fmt.Errorf("more than %d bytes: save the model in fewer shards", MaxIndex)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", indexFile, err)
	}
	return text, nil
}

// parseIndex returns the weight map of an index: tensor -> file. Other parts, of
// which each writer has its own, are skipped.
func parseIndex(text []byte) (map[string]string, error) {
	if !json.Valid(text) || !utf8.Valid(text) {
		return nil, errors.New("not a JSON object in UTF-8: get the file again")
	}
	p := parser{json.NewDecoder(bytes.NewReader(text))}
	p.UseNumber()
	var weights map[string]string
	err := p.object(func(key string) (err error) {
		if key != "weight_map" {
			var skipped json.RawMessage
			return p.Decode(&skipped)
		}
		weights, err = p.texts()
		return err
	})
	if err == nil && len(weights) == 0 {
		err = errors.New(`"weight_map" is missing or empty: save the model with a safetensors library`)
	}
	if err != nil {
		return nil, err
	}
	return weights, checkShards(weights)
}

// checkShards demands plain file names, which mean the same on every system.
func checkShards(weights map[string]string) error {
	shards := map[string]bool{}
	for tensor, name := range weights {
		if !strings.HasSuffix(name, ".safetensors") || len(name) > 255 || strings.ContainsAny(name, `/\:`) || !filepath.IsLocal(name) ||
			strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("%.80q is in %.80q, which is not a name of a *.safetensors file beside the index: use plain names", tensor,
				name)
		}
		shards[name] = true
	}
	if len(shards) > MaxShards {
		return fmt.Errorf("%d shards, of which at most %d are read: save the model in fewer", len(shards), MaxShards)
	}
	return nil
}
