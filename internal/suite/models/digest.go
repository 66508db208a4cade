package models

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
)

// Digest identifies what Measure runs for the cell: arguments, environment,
// worker, and the contents of the files that the arguments name, the program
// among them. Variables that the child inherits are not part of it.
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
	args = append(args, s.env.EngineArgs...)
	files := make([]string, 0, len(args))
	for i, a := range args {
		files = append(files, s.contents.digest(a, i == 0))
	}
	data, err := json.Marshal([]any{args, files, s.environment(cell, sc.choice), s.unset, s.body.Worker, params})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// contents remembers digests of files, which many cells share.
type contents struct {
	dir     string
	environ []string
	mu      sync.Mutex
	known   map[string]string
}

// maxContent is the size up to which a file's content counts. Of a larger one,
// such as a model, size and time do: reading it would take longer than a cell.
const maxContent = 256 << 20

// digest returns a digest of the file that an argument names, "" if it names
// none. A program without a folder is looked up in PATH.
func (c *contents) digest(arg string, program bool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := fmt.Sprint(program, arg)
	if d, ok := c.known[key]; ok {
		return d
	}
	if c.known == nil {
		c.known = map[string]string{}
	}
	c.known[key] = content(c.find(arg, program))
	return c.known[key]
}

func (c *contents) find(arg string, program bool) string {
	if !program || filepath.Base(arg) != arg {
		if filepath.IsAbs(arg) {
			return arg
		}
		return filepath.Join(c.dir, arg)
	}
	for _, entry := range c.environ {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			for _, dir := range filepath.SplitList(path) {
				if file := filepath.Join(dir, arg); regular(file) != nil {
					return file
				}
			}
		}
	}
	return arg
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
