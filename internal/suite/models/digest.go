package models

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worker"
)

// Digest identifies what Measure runs for the cell: arguments, environment,
// worker, and the contents of the program and of all files that the cell needs
// or that an argument or a parameter names, also behind a "=". What a program
// loads besides, such as libraries and modules, is not seen, nor is the content
// of an image.
func (s *Suite) Digest(cell bench.Cell) (string, error) {
	f, _, err := s.fill(cell, s.placeholderOutput()) // the real path differs each time and does not matter
	if err != nil {
		return "", err
	}
	digests := []string{s.contents.program(f.args[0], f.env)}
	for _, name := range slices.Concat(f.files, f.args[1:], texts(f.params)) {
		digests = append(digests, s.contents.file(name))
		if _, value, ok := strings.Cut(name, "="); ok {
			digests = append(digests, s.contents.file(value))
		}
	}
	data, err := json.Marshal([]any{f.args, digests, f.env, s.unset, s.inherited, s.body.Worker, f.params})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// inherited is what of our own environment reaches a child and may matter: a
// library path, the visible devices. What differs from shell to shell and from
// job to job is left out.
func inherited(environ []string) []string {
	values := map[string]string{}
	for _, entry := range worker.Scrub(environ) { // the last entry of a name counts
		if name, value, _ := strings.Cut(entry, "="); !volatile.MatchString(name) {
			values[name] = value
		}
	}
	entries := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		entries = append(entries, name+"="+values[name])
	}
	return entries
}

var volatile = regexp.MustCompile(`^(_|PWD|OLDPWD|SHLVL|TERM.*|COLORTERM|COLUMNS|LINES|WINDOWID|DISPLAY|WAYLAND_.*|XAUTHORITY|XDG_.*|TMUX.*|STY|` +
	`SSH_.*|GPG_.*|VSCODE_.*|DBUS_.*|INVOCATION_ID|JOURNAL_STREAM|SYSTEMD_.*|SLURM_.*|CI_.*|BUILD_.*|JOB_.*|Image(OS|Version)|ACCELGATE_.*)$`)

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

// maxListing bounds how much of a folder counts.
const maxListing = 10_000

// listing is a digest of the names, sizes and times in a folder, such as a
// model in several files; "" for what is no folder.
func listing(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return ""
	}
	sum, n := sha256.New(), 0
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > maxListing {
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			fmt.Fprintln(sum, name, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil))
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
		return listing(path)
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
