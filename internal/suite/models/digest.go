package models

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worker"
)

// Digest identifies what Measure runs for the cell: arguments, environment,
// worker, and the contents of the program and of all files that the cell needs
// or that an argument or a parameter names, also behind a "=". Variables that
// the child inherits are not part of it, nor is the content of an image.
func (s *Suite) Digest(cell bench.Cell) (string, error) {
	output := ""
	if s.body.Output == outputFile {
		output = "result" // its path differs each time and does not matter
	}
	sc := s.scope(cell, output)
	args, err := sc.arguments(s.body.Command)
	if err != nil {
		return "", err
	}
	params, err := s.params(sc)
	if err != nil {
		return "", err
	}
	files, err := s.files(sc)
	if err != nil {
		return "", err
	}
	args = append(args, s.env.EngineArgs...)
	env := s.environment(cell, sc.choice)
	digests := []string{s.contents.program(args[0], env)}
	for _, name := range slices.Concat(files, args[1:], texts(params)) {
		digests = append(digests, s.contents.file(name))
		if _, value, ok := strings.Cut(name, "="); ok {
			digests = append(digests, s.contents.file(value))
		}
	}
	data, err := json.Marshal([]any{args, digests, env, s.unset, s.body.Worker, params})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// texts lists the values of parameters that may name files.
func texts(params json.RawMessage) (all []string) {
	var values map[string]any
	if json.Unmarshal(params, &values) != nil {
		return nil // there are none
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if text, ok := values[name].(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// contents remembers digests of files, which many cells share.
type contents struct {
	dir     string
	environ []string
	mu      sync.Mutex
	known   map[string]string // by path
}

// maxContent is the size up to which a file's content counts. Of a larger one,
// such as a model, size and time do: reading it would take longer than a cell.
const maxContent = 256 << 20

// program returns the digest of what a worker would start.
func (c *contents) program(name string, env []string) string {
	path, err := worker.Find(name, slices.Concat(c.environ, env))
	if err != nil {
		return ""
	}
	return c.file(path)
}

// file returns the digest of a file, "" for what is none.
func (c *contents) file(path string) string {
	if path == "" || strings.ContainsRune(path, 0) {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.dir, path)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if d, ok := c.known[path]; ok {
		return d
	}
	if c.known == nil {
		c.known = map[string]string{}
	}
	c.known[path] = content(path)
	return c.known[path]
}

func regular(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}

func content(path string) string {
	info := regular(path)
	if info == nil {
		return ""
	}
	if info.Size() > maxContent {
		return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	f, err := os.Open(path)
	if err != nil {
		return "unreadable"
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxContent)); err != nil {
		return "unreadable"
	}
	return hex.EncodeToString(sum.Sum(nil))
}
