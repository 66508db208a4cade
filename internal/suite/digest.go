package suite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// Inherited is what of our own environment reaches a child and may matter: a
// library path, the visible devices. What differs from shell to shell and from
// job to job is left out.
func Inherited(environ []string) []string {
	values := map[string]string{}
	job := slices.ContainsFunc(environ, batch.MatchString)
	for _, entry := range worker.Scrub(environ) { // the last entry of a name counts
		if name, value, _ := strings.Cut(entry, "="); !volatile.MatchString(name) && !(job && allotted.MatchString(name)) {
			values[name] = value
		}
	}
	entries := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		entries = append(entries, name+"="+values[name])
	}
	return entries
}

var volatile = lazyregexp.New(
	`^(_|PWD|OLDPWD|SHLVL|TERM.*|COLORTERM|COLUMNS|LINES|WINDOWID|DISPLAY|WAYLAND_.*|XAUTHORITY|XDG_.*|TMUX.*|STY|` +
		`SSH_.*|GPG_.*|VSCODE_.*|DBUS_.*|INVOCATION_ID|JOURNAL_STREAM|SYSTEMD_.*|SLURM.*|CI_.*|BUILD_.*|JOB_.*|Image(OS|Version)|ACCELGATE_.*)$`,
)

// batch is a variable of a job of Slurm or Kubernetes. One that is started again finds another node and other devices,
// which allotted names.
var (
	batch    = lazyregexp.New(`^(SLURM_JOB_ID|JOB_COMPLETION_INDEX)=`)
	allotted = lazyregexp.New(`^(HOSTNAME|TMPDIR|ENVIRONMENT|KUBERNETES_.*|.*_(SERVICE|PORT)(_.*)?|` +
		`(CUDA|NVIDIA|HIP|ROCR|ASCEND_RT)_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL|ZE_AFFINITY_MASK)$`)
)

// Contents remembers digests of files, which many cells share. It may be used
// by several goroutines at once.
type Contents struct {
	Dir     string   // of relative paths
	Environ []string // in which programs are looked up

	mu    sync.Mutex
	known map[string]string    // by path
	found map[[2]string]string // paths of programs, by name and PATH; "" for none
}

// maxContent is the size up to which a file's content counts. Of a larger one,
// such as a model, size and time do: reading it would take longer than a cell.
const maxContent = 256 << 20

// Program returns the digest of the program that a worker would start with the variables
// env, "" where it would find nothing.
func (c *Contents) Program(name string, env []string) string {
	return c.File(c.find(name, slices.Concat(c.Environ, env)))
}

// find looks a program up once: a matrix has thousands of cells, and a PATH dozens of folders.
func (c *Contents) find(name string, environ []string) string {
	key := [2]string{name, worker.Getenv(environ, "PATH")}
	c.mu.Lock()
	defer c.mu.Unlock()
	path, known := c.found[key]
	if !known {
		path, _ = worker.Find(name, environ) // "" if there is none
		if c.found == nil {
			c.found = map[[2]string]string{}
		}
		c.found[key] = path
	}
	return path
}

// Named returns the digests of the files that arguments name, also behind a
// "=". Other arguments have "".
func (c *Contents) Named(args []string) []string {
	digests := make([]string, 0, len(args))
	for _, name := range args {
		digests = append(digests, c.File(name))
		if _, value, ok := strings.Cut(name, "="); ok {
			digests = append(digests, c.File(value))
		}
	}
	return digests
}

// File returns the digest of a file, or of the names, sizes and times in a
// folder; "" for what is neither.
func (c *Contents) File(path string) string {
	if path == "" || strings.ContainsRune(path, 0) {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
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
// model in several files; "" if path is no folder.
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
