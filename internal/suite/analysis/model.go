package analysis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/artifact/download"
	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// generated is the name of the checkpoint that is made where none is named.
const generated = "generated"

// Source describes where a checkpoint comes from.
type Source struct {
	Name     string // folder, file, or id on the hub; "" generates a small one
	Revision string // on the hub
	Cache    string // folder for what comes from the hub; "" is that of the environment
	Limit    int64  // bytes of that folder; 0 is that of the environment
	// Getenv reads HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE, as the hub's own
	// clients do, and the variables of the cache.
	Getenv   func(string) string
	Offline  bool                    // in addition to the environment
	Progress func(download.Progress) // may be nil
}

// Model is an opened checkpoint.
type Model struct {
	lowrank.Checkpoint
	Name string // as reports have it
	// Family chooses which weights are decomposed: what config.json calls
	// model_type, or else the name.
	Family   string
	Warnings []string
	dir      string // temporary
	holds    *download.Holds
}

// ErrNotHere marks the error of a name that is no file, no folder, and no id.
var ErrNotHere = errors.New("there is no such checkpoint")

// Close closes the checkpoint and removes what was generated.
func (m *Model) Close() error {
	err := m.Checkpoint.Close()
	m.holds.Release()
	if m.dir != "" {
		err = errors.Join(err, os.RemoveAll(m.dir))
	}
	return err
}

// generatedSeed is that of the generated checkpoint.
const generatedSeed = 1

// OpenModel opens a checkpoint. What is neither there nor looks like an id on
// the hub is an error.
func OpenModel(ctx context.Context, s Source) (*Model, error) {
	switch {
	case s.Name == "":
		return generate()
	case isID(s.Name, s.Name):
		return fetch(ctx, s)
	}
	if _, err := os.Stat(s.Name); err != nil {
		return nil, fmt.Errorf("%w: %w: name a folder or file of safetensors", ErrNotHere, err)
	}
	return local(s.Name, filepath.Base(s.Name))
}

// local opens a checkpoint that is there.
func local(path, name string) (*Model, error) {
	c, err := lowrank.Open(path)
	if err != nil {
		return nil, err
	}
	m := &Model{Checkpoint: c, Name: name, Family: cmp.Or(modelType(path), path[strings.LastIndexAny(path, `/\\`)+1:])}
	if lost := c.Unlisted(); len(lost) > 0 {
		m.Warnings = append(m.Warnings, fmt.Sprintf(
			"%d tensors, such as %.200q, are in files of the checkpoint and not in its index, and were not looked at: fix the index",
			len(lost), lost[0]))
	}
	return m, nil
}

// modelType reads what config.json beside a checkpoint says it is; "" where there
// is none, or none that says so.
func modelType(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	file, err := os.Open(filepath.Join(path, "config.json"))
	if err != nil {
		return ""
	}
	defer file.Close()
	var about struct {
		ModelType string `json:"model_type"`
	}
	const maximum = 1 << 20
	if json.NewDecoder(io.LimitReader(file, maximum)).Decode(&about) != nil || len(about.ModelType) > 100 {
		return ""
	}
	return about.ModelType
}

func generate() (*Model, error) {
	dir, err := os.MkdirTemp("", "accelgate-checkpoint-*") // with the permissions 0700
	if err != nil {
		return nil, fmt.Errorf("make a folder for the generated checkpoint: %w: name another temporary folder with TMPDIR", err)
	}
	path, err := lowrank.Generate(dir, generatedSeed)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	m, err := local(path, generated)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	m.dir, m.Family = dir, generated
	return m, nil
}

var hubID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$`)

// isID reports whether a name is an id on the hub rather than the path of
// something that is there.
func isID(name, path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist) && hubID.MatchString(name)
}

// weights are the files of a model that hold tensors, or say where they are.
var weights = lazyregexp.New(`^(model[^/]*\.safetensors|model\.safetensors\.index\.json|config\.json)$`)

func fetch(ctx context.Context, s Source) (*Model, error) {
	client, err := download.New(s.Getenv, s.Cache)
	if err != nil {
		return nil, err
	}
	client.Progress, client.Holds, client.Offline = s.Progress, &download.Holds{}, client.Offline || s.Offline
	client.Limit = cmp.Or(client.Limit, s.Limit)
	folder, err := client.Fetch(ctx, s.Name, s.Revision, weights.MatchString)
	if err != nil {
		client.Holds.Release()
		return nil, fmt.Errorf("%w (nothing of this name is here; write ./%s for a folder)", err, s.Name)
	}
	m, err := local(folder, s.Name+"@"+filepath.Base(folder))
	if err != nil {
		client.Holds.Release()
		return nil, err
	}
	m.Family, m.holds = cmp.Or(modelType(folder), s.Name[strings.LastIndexByte(s.Name, '/')+1:]), client.Holds
	return m, nil
}
