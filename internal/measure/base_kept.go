package measure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
)

// On a desk the built base stays in the user's folder of caches, so that the next run
// does not build it again. It is built anew after a day: compilers and libraries change,
// and the code under test is built by those of now.
const (
	keptMark = "built" // in a kept folder: a [keptBase]
	maxKept  = 3
	keptFor  = 24 * time.Hour
)

// keptFolder holds the kept bases of all repositories. It lies outside of the code under test, whose programs write
// where they run.
func keptFolder() (string, error) {
	user, err := os.UserCacheDir()
	return filepath.Join(user, "accelgate", "bases"), err
}

// keptOwner begins the names of the folders of one checkout.
func (k *checkout) keptOwner() string {
	sum := sha256.Sum256([]byte(k.Dir))
	return hex.EncodeToString(sum[:8]) + "-"
}

// keptKey names what the base is built from: its commit, which has its own
// configuration, the head's files in it, and the commands that build it. It is "" where nothing is built.
func (k *checkout) keptKey(head *Session) string {
	type command struct {
		Suite string
		Build *config.Build
	}
	commands, some := []command{{Build: head.Plan.File.Build}}, head.Plan.File.Build != nil
	for i := range head.Plan.File.Suites {
		s := &head.Plan.File.Suites[i]
		if slices.ContainsFunc(head.Plan.Suites, func(one Planned) bool { return one.Name == s.Name }) {
			commands, some = append(commands, command{s.Name, s.Build}), some || s.Build != nil
		}
	}
	parts := []any{k.commit, k.prefix, filepath.Base(head.Plan.Options.Config), commands}
	if k.heads != nil {
		parts = append(parts, k.heads.Digest)
	}
	data, err := json.Marshal(parts)
	if err != nil || !some {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// keptBase is the text of the mark: what the base was made of, and all files that its
// build left.
type keptBase struct {
	Commit   string            `json:"commit"`
	FromHead []string          `json:"from_head,omitempty"` // files of the head that replaced the base's
	Files    worktree.Contents `json:"files"`
}

// reuse takes the folder of the base that is kept, and leaves a base without one, or
// one that another process uses, to a temporary folder.
func (k *checkout) reuse(ctx context.Context, s *Session) {
	key := k.keptKey(s)
	if !s.Plan.Options.Desk || s.inCI() || key == "" {
		return
	}
	key = k.keptOwner() + key
	all, err := keptFolder()
	if err != nil {
		return // the user has no such folder: a temporary one serves
	}
	folder, err := k.Lease(ctx, filepath.Join(all, key), "accelgate run")
	if err != nil {
		return
	}
	k.folder, k.kept = folder, true
	why := ""
	if k.built, why = k.stillBuilt(ctx, s, s.Now()); !k.built {
		if why != "" {
			fmt.Fprintf(s.Stderr, "accelgate: the base is built again: %s\n", text.OneLine(why))
		}
		if err := k.discard(ctx); err != nil { // what is there is old, or half built
			k.kept = false
			return
		}
		if k.folder, err = k.Lease(ctx, filepath.Join(all, key), "accelgate run"); err != nil {
			k.folder, k.kept = nil, false
			return
		}
	}
	k.prune(ctx, s.Now(), all, key)
}

// stillBuilt reports whether the kept folder holds the commit, built less than a day
// ago, with all files that its build left. It takes back what a run changed of the commit's
// own files or added; why names a file of the build that it cannot take back.
func (k *checkout) stillBuilt(ctx context.Context, s *Session, now time.Time) (whole bool, why string) {
	mark := filepath.Join(k.folder.Root, keptMark)
	info, err := os.Stat(mark)
	if err != nil || now.Sub(info.ModTime()) > keptFor {
		return false, ""
	}
	data, err := os.ReadFile(mark)
	if err != nil || json.Unmarshal(data, &k.record) != nil || k.record.Commit != k.commit {
		return false, ""
	}
	tree := filepath.Join(k.folder.Root, checkoutTree)
	if head, err := k.Git(ctx, tree, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil || head != k.commit {
		return false, ""
	}
	changed, added, err := k.differences(tree)
	if err == nil && len(changed) > 0 {
		changed, added, err = k.restore(ctx, s, tree)
	}
	switch {
	case err == nil && len(changed) > 0:
		return false, changed[0] + " differs from what the build left"
	case err == nil:
		err = k.Discard(ctx, tree, added)
	}
	return err == nil, ""
}

// differences compares the files of the worktree with those that the build left.
func (k *checkout) differences(tree string) (changed, added []string, err error) {
	files, err := worktree.ReadContents(tree, DefaultOut)
	if err != nil {
		return nil, nil, err
	}
	changed, added = k.record.Files.Compare(files)
	return changed, added, nil
}

// restore gives the commit's own files, and those of the head, what they had.
func (k *checkout) restore(ctx context.Context, s *Session, tree string) (changed, added []string, err error) {
	if _, err := k.Git(ctx, tree, "reset", "--quiet", "--hard"); err != nil {
		return nil, nil, err
	}
	if _, err := lay(ctx, s, k.Repository, k.heads, filepath.Join(tree, filepath.FromSlash(k.prefix)), false); err != nil {
		return nil, nil, err
	}
	return k.differences(tree)
}

// keep marks the folder as built, with the files that are in it now.
func (k *checkout) keep() {
	files, err := worktree.ReadContents(filepath.Join(k.folder.Root, checkoutTree), DefaultOut)
	if err != nil {
		return // the next run builds it again
	}
	mark := filepath.Join(k.folder.Root, keptMark)
	info, err := os.Stat(mark)
	reused := k.built && err == nil
	k.record = keptBase{Commit: k.commit, Files: files}
	if k.laid != nil {
		k.record.FromHead = k.laid.Names
	}
	data, err := json.Marshal(k.record)
	if err == nil {
		err = atomicfile.Write(mark, data)
	}
	if err == nil && reused { // its age is that of the first build
		err = os.Chtimes(mark, info.ModTime(), info.ModTime())
	}
	k.built = err == nil
}

// prune removes the kept bases of this checkout but for this one and those built last, and those of all checkouts that
// no run would take.
func (k *checkout) prune(ctx context.Context, now time.Time, all, key string) {
	entries, err := os.ReadDir(all)
	if err != nil {
		return
	}
	built := func(e os.DirEntry) time.Time {
		info, err := os.Stat(filepath.Join(all, e.Name(), keptMark))
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == key })
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Or(built(b).Compare(built(a)), cmp.Compare(a.Name(), b.Name())) })
	kept := 1
	for _, e := range entries {
		own := strings.HasPrefix(e.Name(), k.keptOwner())
		if now.Sub(built(e)) <= keptFor && (!own || kept < maxKept) {
			if own {
				kept++
			}
			continue
		}
		if folder, err := k.Lease(ctx, filepath.Join(all, e.Name()), "accelgate run"); err == nil {
			_ = folder.Remove(ctx) // the next run tries again
		}
	}
}
