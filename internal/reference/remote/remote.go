// Package remote reads files out of a git repository that others own: a branch is
// fetched into a temporary folder without a working tree, so that nothing of it is checked out,
// followed as a link, or run. No secret reaches git, because a worker scrubs its environment.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// File is a file of a repository at a commit.
type File struct {
	Data   []byte
	Commit string
}

// Error is a repository or a branch of it that could not be read.
type Error struct{ err error }

func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// Source is where a file is.
type Source struct {
	URL  string // or the path of a repository
	Ref  string // branch, tag or commit; "" is the repository's HEAD
	Path string // of the file, with slashes
}

const (
	fetchTimeout = 2 * time.Minute
	maxFiles     = 1000
)

// Fetch reads a file. The error is [fs.ErrNotExist] if the commit does not have it, and a [*Error] if
// the commit cannot be had. With anonymous, git asks no helper for credentials. The worker must
// keep as many bytes as the largest file may have.
func Fetch(ctx context.Context, w worker.Worker, from Source, anonymous bool) (f File, err error) {
	err = within(ctx, w, from, anonymous, func(g git, commit string) error {
		f.Commit = commit
		f.Data, err = g.blob(ctx, commit, from.Path)
		return err
	})
	return f, err
}

// Read is a file of a folder, or why it cannot be read.
type Read struct {
	Data []byte
	Err  error
}

// Folder reads the files of a folder, from.Path, whose names match a pattern of [path.Match], by their names. A
// folder that the commit does not have holds none, and more than 1000 files are an error. Otherwise it is as Fetch.
func Folder(ctx context.Context, w worker.Worker, from Source, pattern string, anonymous bool) (map[string]Read, error) {
	files := map[string]Read{}
	return files, within(ctx, w, from, anonymous, func(g git, commit string) error {
		args := []string{"ls-tree", "-z", "--full-tree", "--name-only", commit}
		if from.Path != "." {
			args = append(args, "--", from.Path+"/")
		}
		list, err := g.run(ctx, args...)
		for at := range strings.SplitSeq(string(list), "\x00") {
			name := path.Base(at)
			if match, _ := path.Match(pattern, name); !match {
				continue
			}
			if len(files) == maxFiles {
				return fmt.Errorf("%s of commit %.12s has more than %d files %s: name another folder in baselines.path",
					text.OneLine(from.Path), commit, maxFiles, pattern)
			}
			data, err := g.blob(ctx, commit, at)
			files[name] = Read{data, err}
		}
		return err
	})
}

// within fetches a commit into a temporary folder, and removes it after read.
func within(ctx context.Context, w worker.Worker, from Source, anonymous bool, read func(g git, commit string) error) error {
	dir, err := os.MkdirTemp("", "accelgate-baselines-")
	if err != nil {
		return fmt.Errorf("make a folder for baselines: %w: name another temporary folder with TMPDIR", err)
	}
	defer os.RemoveAll(dir)
	g := git{w: w, dir: dir, anonymous: anonymous}
	commit, err := g.fetch(ctx, from)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &Error{
			fmt.Errorf("fetch %s of %s: %w: correct baselines.repository and baselines.ref, or type 'git ls-remote %s' to see its branches",
				text.OneLine(cmp.Or(from.Ref, "HEAD")), text.OneLine(from.URL), err, text.ShellWord(from.URL)),
		}
	}
	return read(g, commit)
}

// git is a repository that was made for one fetch.
type git struct {
	w         worker.Worker
	dir       string
	anonymous bool
}

// settings keep git from running anything that a repository or its server names, from other
// transports than these, and from questions to a terminal.
var settings = []string{
	"protocol.allow=never",
	"protocol.https.allow=always",
	"protocol.ssh.allow=always",
	"protocol.file.allow=always",
	"core.hooksPath=" + os.DevNull,
	"maintenance.auto=false",
	"gc.auto=0",
	"core.askPass=",
}

// fetch gets a commit of a repository, and returns its name.
func (g git) fetch(ctx context.Context, from Source) (commit string, err error) {
	if _, err := g.run(ctx, "init", "--quiet", "--bare"); err != nil {
		return "", err
	}
	if _, err := g.run(ctx, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", from.URL, cmp.Or(from.Ref, "HEAD")); err != nil {
		return "", err
	}
	name, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}")
	return strings.TrimSpace(string(name)), err
}

func (g git) run(ctx context.Context, args ...string) ([]byte, error) {
	line := []string{"git"}
	for _, s := range settings {
		line = append(line, "-c", s)
	}
	if g.anonymous {
		line = append(line, "-c", "credential.helper=")
	}
	unset := append(
		[]string{"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "SSH_ASKPASS", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF"},
		worktree.Variables...)
	response, err := g.w.Do(ctx, worker.Request{Args: append(line, args...), Dir: g.dir, Unset: unset, Timeout: fetchTimeout,
		Env: []string{"GIT_TERMINAL_PROMPT=0", "GIT_SSH_COMMAND=ssh -oBatchMode=yes"}})
	switch {
	case err != nil:
		return nil, err
	case !response.OK():
		return nil, fmt.Errorf("%s: %s", response.Reason(), text.OneLine(gitError(response.Log)))
	case response.StdoutTruncated:
		return nil, errors.New("the file is too large for a baseline")
	}
	return response.Stdout, nil
}

// gitError returns why git failed, by its log: the line that begins with "fatal: ", or the last one.
func gitError(log string) string {
	for line := range strings.Lines(log) {
		if why, ok := strings.CutPrefix(strings.TrimSpace(line), "fatal: "); ok {
			return strings.TrimSuffix(why, ".")
		}
	}
	return text.LastLine(log)
}

// blob reads a regular file of a commit.
func (g git) blob(ctx context.Context, commit, path string) ([]byte, error) {
	tree, err := g.run(ctx, "ls-tree", "-z", "--full-tree", commit, "--", path)
	if err != nil {
		return nil, err
	}
	entry, _, _ := strings.Cut(string(tree), "\t")
	switch parts := strings.Fields(entry); {
	case len(parts) == 0:
		return nil, fmt.Errorf("%s of commit %.12s: %w", text.OneLine(path), commit, fs.ErrNotExist)
	case len(parts) != 3 || !strings.HasPrefix(parts[0], "100") || parts[1] != "blob":
		return nil, fmt.Errorf("%s of commit %.12s is a link, a folder or a submodule: replace it with a file", text.OneLine(path), commit)
	default:
		return g.run(ctx, "cat-file", "blob", parts[2])
	}
}
