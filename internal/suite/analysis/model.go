package analysis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/accelgate/accelgate/internal/hub"
	"github.com/accelgate/accelgate/internal/osft"
	"github.com/accelgate/accelgate/internal/svd"
)

// Generated is the name of the checkpoint that is made where none is named.
const Generated = "generated"

// Source says where a checkpoint comes from.
type Source struct {
	Name     string // folder, file, or id on the hub; "" generates a small one
	Revision string // on the hub
	Cache    string // folder for what comes from the hub; "" is the user's
	// Getenv reads HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE, as the hub's own
	// clients do.
	Getenv   func(string) string
	Progress func(hub.Progress) // may be nil
}

// Model is an opened checkpoint.
type Model struct {
	osft.Checkpoint
	Name string // as reports have it
	dir  string // temporary
}

// Close closes the checkpoint and removes what was generated.
func (m *Model) Close() error {
	err := m.Checkpoint.Close()
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
	c, err := osft.Open(s.Name)
	return &Model{Checkpoint: c, Name: filepath.Base(s.Name)}, err
}

func generate() (*Model, error) {
	dir, err := os.MkdirTemp("", "accelgate-checkpoint-*") // with the permissions 0700
	if err != nil {
		return nil, fmt.Errorf("make a folder for the generated checkpoint: %w: name another temporary folder with TMPDIR", err)
	}
	path, err := osft.Generate(dir, generatedSeed)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c, err := osft.Open(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Model{Checkpoint: c, Name: Generated, dir: dir}, nil
}

var hubID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$`)

// isID reports whether a name is an id on the hub rather than the path of
// something that is there.
func isID(name, path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist) && hubID.MatchString(name)
}

// weights are the files of a model that hold tensors, or say where they are.
var weights = regexp.MustCompile(`^(model[^/]*\.safetensors|model\.safetensors\.index\.json)$`)

func fetch(ctx context.Context, s Source) (*Model, error) {
	if s.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("find a folder to keep models in: %w: name one", err)
		}
		s.Cache = filepath.Join(dir, "accelgate", "hub")
	}
	client := hub.Client{Endpoint: s.Getenv("HF_ENDPOINT"), Token: s.Getenv("HF_TOKEN"), Dir: s.Cache, Progress: s.Progress,
		Offline: s.Getenv("HF_HUB_OFFLINE") != "" && s.Getenv("HF_HUB_OFFLINE") != "0"}
	folder, err := client.Fetch(ctx, s.Name, s.Revision, weights.MatchString)
	if err != nil {
		return nil, err
	}
	c, err := osft.Open(folder)
	return &Model{Checkpoint: c, Name: s.Name + "@" + filepath.Base(folder)}, err
}

// SolverChoice names what decomposes: auto, go or openblas.
type SolverChoice string

// Solver returns it; auto and "" are the fastest there is.
func (s SolverChoice) Solver() (svd.Solver, error) {
	switch s {
	case "", "auto":
		return svd.Best(), nil
	case "go":
		return svd.Go(), nil
	case "openblas":
		return svd.OpenBLAS()
	}
	return nil, fmt.Errorf("unknown solver %.40q: use auto, go or openblas", s)
}
