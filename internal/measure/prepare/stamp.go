package prepare

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// stamp says what a finished build was made of. The program under test can write one as it
// can write the outputs themselves, so it saves work and proves nothing.
type stamp struct {
	Key     string `json:"key"`     // of command, environment and inputs; "" if they have no digest
	Outputs string `json:"outputs"` // digest of the files; "" if none are named
	ID      string `json:"id"`      // of this build
}

// maxAge is how long a build may be reused: compilers and libraries change, and base and
// head must be built by the same ones.
const maxAge = 24 * time.Hour

// ownFolder is accelgate's folder beside the configuration.
const ownFolder = ".accelgate"

// stampPath keeps the stamps of builds in the checkout, where their outputs are.
func (c *Checkout) stampPath(name string) string {
	if name == Whole {
		return filepath.Join(c.Dir, ownFolder, "builds", "build.json")
	}
	return filepath.Join(c.Dir, ownFolder, "builds", "suites", name+".json")
}

// maxSkew is how far ahead of the clock a stamp may be, as on a network drive.
const maxSkew = time.Minute

// maxStamp bounds a stamp that is read.
const maxStamp = 4 << 10

// stamp reads the stamp of a build; false where there is none that counts.
func (c *Checkout) stamp(name string) (s stamp, ok bool) {
	path := c.stampPath(name)
	info, err := os.Lstat(path)
	if err != nil {
		return s, false
	}
	if age := c.Now().Sub(info.ModTime()); age > maxAge || age < -maxSkew {
		return s, false
	}
	data, err := suite.ReadResult(path, path, maxStamp)
	return s, err == nil && json.Unmarshal(data, &s) == nil && s.ID != ""
}

// note writes the stamp of a finished build and returns its id.
func (c *Checkout) note(name string, s stamp) (id string, err error) {
	s.ID = rand.Text()
	data, err := json.Marshal(s)
	if err == nil {
		err = atomicfile.MkdirAll(filepath.Dir(c.stampPath(name)))
	}
	if err == nil {
		err = atomicfile.Write(c.stampPath(name), data)
	}
	return s.ID, err
}

// forget removes the stamp of a build.
func (c *Checkout) forget(name string) error {
	if err := os.Remove(c.stampPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget an earlier build: %w: make the folder writable", err)
	}
	return nil
}

// fresh reports whether a build need not be run again.
func (c *Checkout) fresh(b *config.Build, s stamp, key string) bool {
	if key == "" || s.Key != key || s.Outputs == "" {
		return false
	}
	outputs, err := c.outputs(b)
	return err == nil && outputs == s.Outputs
}

// outputs is the digest of the files that a build wrote; "" if it names none.
func (c *Checkout) outputs(b *config.Build) (string, error) {
	if len(b.Outputs) == 0 {
		return "", nil
	}
	contents := suite.Contents{Dir: c.Dir} // which remembers, so each look has its own
	return contents.Declared(b.Outputs)
}

// key is the digest of all that a build is made from; "" where that cannot be found out, so
// that it is never reused.
func (c *Checkout) key(ctx context.Context, b *config.Build) string {
	inputs := c.inputs(ctx, b)
	if inputs == "" || len(b.Outputs) == 0 {
		return ""
	}
	data, err := json.Marshal([]any{b.Command, b.Dir, suite.Entries(b.Env), b.Outputs, suite.Inherited(c.Environ), inputs})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// inputs is the digest of the files that a build reads, or the commit where nothing
// differs from it.
func (c *Checkout) inputs(ctx context.Context, b *config.Build) string {
	if len(b.Inputs) > 0 {
		contents := suite.Contents{Dir: c.Dir}
		digest, err := contents.Declared(b.Inputs)
		if err != nil {
			c.Say(fmt.Sprintf("%s is built each time, because of its inputs %s", c.What, text.OneLine(err.Error())))
			return ""
		}
		return "files " + digest
	}
	commit, ok := c.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	if !ok {
		return ""
	}
	args := []string{"status", "--porcelain", "--untracked-files=all", "--", ":/", ":(exclude)" + ownFolder}
	for _, output := range b.Outputs {
		if filepath.IsLocal(output) {
			args = append(args, ":(exclude)"+filepath.ToSlash(output))
		}
	}
	if changed, ok := c.git(ctx, args...); !ok || changed != "" {
		return ""
	}
	return "commit " + commit
}

// git runs git in the checkout.
func (c *Checkout) git(ctx context.Context, args ...string) (out string, ok bool) {
	response, err := c.Worker.Do(ctx,
		worker.Request{Args: append([]string{"git"}, args...), Dir: c.Dir, Unset: worktree.Variables, Timeout: time.Minute})
	return string(response.Stdout), err == nil && response.OK() && !response.StdoutTruncated
}
