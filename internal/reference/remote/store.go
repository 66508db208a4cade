package remote

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Store is a place for files that two commands of the user read and write, such as a bucket or a database.
// {name} is the name of a file there, and {file} its path here.
type Store struct {
	Worker         worker.Worker
	Dir            string // in which the commands start
	Fetch, Publish []string
	MaxSize        int64
}

// storeTimeout bounds a command.
const storeTimeout = 10 * time.Minute

// Read fetches a file. The error is [fs.ErrNotExist] if the command succeeds and writes none, and a [*Error] if it
// fails.
func (s Store) Read(ctx context.Context, name string) (File, error) {
	dir, err := os.MkdirTemp("", "accelgate-baselines-")
	if err != nil {
		return File{}, fmt.Errorf("make a folder for baselines: %w: name another temporary folder with TMPDIR", err)
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, name)
	if err := s.run(ctx, "fetch", s.Fetch, name, at); err != nil {
		return File{}, err
	}
	data, err := s.read(at)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return File{Data: data}, err
}

func (s Store) read(at string) ([]byte, error) {
	info, err := os.Lstat(at)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{errors.New("baselines.fetch wrote a link or a folder: let it write a file at {file}")}
	}
	f, err := os.Open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, s.MaxSize+1))
	if err == nil && int64(len(data)) > s.MaxSize {
		err = &Error{fmt.Errorf("baselines.fetch wrote more than %d bytes: let it write the baseline alone", s.MaxSize)}
	}
	return data, err
}

// Write publishes a file, unless the store no longer has the one of this digest; "" is none. The command gets the
// digest as ACCELGATE_BASELINE_WAS, so that it can refuse on its side what comes in between.
func (s Store) Write(ctx context.Context, name, path, was string) error {
	there, err := s.Read(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	}
	if digest(there.Data) != was {
		return fmt.Errorf("the store has another %s than the one that the run was compared with: "+
			"type the command again with --from and the run.json, which compares and merges anew", text.OneLine(name))
	}
	return s.run(ctx, "publish", s.Publish, name, path, "ACCELGATE_BASELINE_WAS="+was)
}

// digest is the SHA-256 of a file; "" of an empty or absent one.
func digest(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// Line is a command of the store as it is run, for messages.
func Line(command []string, name, path string) string {
	words := filled(command, name, path)
	for i, word := range words {
		words[i] = text.ShellWord(word)
	}
	return strings.Join(words, " ")
}

func filled(command []string, name, path string) []string {
	args := make([]string, len(command))
	for i, arg := range command {
		args[i] = strings.NewReplacer("{name}", name, "{file}", path).Replace(arg)
	}
	return args
}

func (s Store) run(ctx context.Context, key string, command []string, name, path string, env ...string) error {
	response, err := s.Worker.Do(ctx, worker.Request{Args: filled(command, name, path), Dir: s.Dir, Env: env, Timeout: storeTimeout})
	switch {
	case err != nil:
		return err
	case response.OK():
		return nil
	}
	return &Error{fmt.Errorf("baselines.%s %s: %s: correct the command, or type it: %s",
		key, response.Reason(), text.OneLine(text.LastLine(response.Log)), Line(command, name, path))}
}
