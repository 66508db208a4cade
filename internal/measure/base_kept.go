package measure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/config"
)

// On a desk the built base stays below the folder of results, so that the next run
// does not build it again. It is built anew after a day: compilers and libraries change,
// and the code under test is built by those of now.
const (
	keptFolder = "bases"
	keptMark   = "built" // in a kept folder: the base is built
	mostKept   = 3
	keptFor    = 24 * time.Hour
)

// keptKey names what the base is built from: its commit, which has its own
// configuration, the head's files in it, and the commands that build it. It is "" where nothing is built.
func (k *checkout) keptKey(p *Plan) string {
	type command struct {
		Suite string
		Build *config.Build
	}
	commands, some := []command{{Build: p.File.Build}}, p.File.Build != nil
	for i := range p.File.Suites {
		s := &p.File.Suites[i]
		if slices.ContainsFunc(p.Suites, func(one Planned) bool { return one.Name == s.Name }) {
			commands, some = append(commands, command{s.Name, s.Build}), some || s.Build != nil
		}
	}
	parts := []any{k.commit, k.prefix, filepath.Base(p.Options.Config), commands}
	if k.heads != nil {
		parts = append(parts, k.heads.Digest)
	}
	text, err := json.Marshal(parts)
	if err != nil || !some {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// reuse takes the folder of the base that is kept, and leaves a base without one, or
// one that another process uses, to a temporary folder.
func (k *checkout) reuse(ctx context.Context, e *Env, p *Plan) {
	key := k.keptKey(p)
	if !p.Options.Desk || e.inCI() || key == "" {
		return
	}
	all, err := filepath.Abs(p.OutPath(keptFolder))
	if err != nil {
		return
	}
	folder, err := k.Lease(ctx, filepath.Join(all, key), "accelgate run")
	if err != nil {
		return
	}
	k.folder, k.kept = folder, true
	if k.built = k.stillBuilt(ctx, e.Now()); !k.built {
		if err := k.discard(ctx); err != nil { // what is there is old, or half built
			k.kept = false
			return
		}
		if k.folder, err = k.Lease(ctx, filepath.Join(all, key), "accelgate run"); err != nil {
			k.folder, k.kept = nil, false
			return
		}
	}
	k.prune(ctx, all, key)
}

// stillBuilt reports whether the kept folder holds the commit, built less than a day
// ago. It takes back what a run changed in it.
func (k *checkout) stillBuilt(ctx context.Context, now time.Time) bool {
	info, err := os.Stat(filepath.Join(k.folder.Root, keptMark))
	if err != nil || now.Sub(info.ModTime()) > keptFor {
		return false
	}
	tree := filepath.Join(k.folder.Root, checkoutTree)
	head, err := k.Git(ctx, tree, "rev-parse", "--verify", "--quiet", "HEAD")
	return err == nil && head == k.commit && k.Tidy(ctx, tree) == nil
}

// keep marks the folder as built.
func (k *checkout) keep() error {
	return atomicfile.Write(filepath.Join(k.folder.Root, keptMark), []byte(k.commit+"\n"))
}

// prune removes kept bases but for this one and those built last.
func (k *checkout) prune(ctx context.Context, all, key string) {
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
	for _, e := range entries[min(mostKept-1, len(entries)):] {
		if folder, err := k.Lease(ctx, filepath.Join(all, e.Name()), "accelgate run"); err == nil {
			_ = folder.Remove(ctx) // the next run tries again
		}
	}
}
