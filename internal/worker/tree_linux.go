package worker

import (
	"maps"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// forest holds the trees of all workers, because orphans become children of
// the whole process. Its lock is held while a child is started or waited for
// and while orphans are looked for. A number that was seen under the lock and
// is one of our children therefore still means the same process: it stays
// taken until its parent waits for it.
var forest struct {
	sync.Mutex
	adopts sync.Once
	live   map[*tree]bool
	// owner maps processes and groups to the tree that they were found to
	// belong to. A killed process can no longer be asked.
	owner map[int]*tree
}

// start starts cmd as the root of the tree.
func (t *tree) start(cmd *exec.Cmd) error {
	t.mark(cmd)
	forest.Lock()
	defer forest.Unlock()
	forest.adopts.Do(adoptOrphans)
	if err := cmd.Start(); err != nil {
		return err
	}
	t.root = cmd.Process.Pid
	if forest.live == nil {
		forest.live, forest.owner = map[*tree]bool{}, map[int]*tree{}
	}
	forest.live[t], forest.owner[t.root] = true, t
	return nil
}

// adoptOrphans makes this process the parent of every descendant that loses
// its own. Where the kernel cannot do it, orphans stay out of reach.
func adoptOrphans() {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER of prctl(2), which package syscall lacks
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// wait reaps the exited root, whose number may be given away from then on.
func (t *tree) wait(cmd *exec.Cmd) {
	forest.Lock()
	defer forest.Unlock()
	_ = cmd.Wait() // an exit code is no error
	delete(forest.live, t)
	maps.DeleteFunc(forest.owner, func(_ int, owner *tree) bool { return owner == t })
}

// waitAlone reaps the exited root if there is no other tree, and reports whether
// nothing at all is left then: the kernel says so in a microsecond, and a look
// at all processes takes a hundred. Otherwise the tree goes on without its root,
// which a group of its processes keeps the number of.
func (t *tree) waitAlone(cmd *exec.Cmd) bool {
	forest.Lock()
	defer forest.Unlock()
	if len(forest.live) != 1 || !forest.live[t] {
		return false
	}
	_ = cmd.Wait() // an exit code is no error
	t.root = 0
	if !childless() {
		return false
	}
	delete(forest.live, t)
	clear(forest.owner)
	return true
}

// abandon gives up a tree whose root cannot be killed. What descends from it
// falls to the requests that go on; the root itself stays as it is.
func (t *tree) abandon() {
	forest.Lock()
	defer forest.Unlock()
	delete(forest.live, t)
}

// end kills and reaps the orphans of the tree, whose root has exited, until
// none is left. It gives up after limit and returns the number of one that
// is, otherwise 0.
func (t *tree) end(limit time.Duration) (left int) {
	const pause, unclear = time.Millisecond, 10
	deadline := time.Now().Add(limit)
	for pass := 1; ; pass++ {
		left, sure, ends := t.pass()
		if left == 0 && (sure || pass > unclear && !ends) {
			return 0
		}
		if time.Now().After(deadline) {
			return left
		}
		time.Sleep(pause)
	}
}

// pass kills and reaps once. What dies leaves its children to us, so only a
// pass that finds nothing proves that nothing is left. It is not sure where a
// process may be about to start a program and cannot be asked just now, or ends by itself: then its children are not
// ours yet, and on a busy host it may take a while.
func (t *tree) pass() (found int, sure, ends bool) {
	forest.Lock()
	defer forest.Unlock()
	sure = true
	for _, p := range children() {
		owner, asked := ownerOf(p)
		switch {
		case owner != nil && owner.root == p.pid: // waited for by its own request
		case owner == t, owner == nil && t.inherits(p):
			t.killOrphan(p)
			found = p.pid
		case owner == nil && !asked && !p.ours():
			sure, ends = false, ends || exiting(p.pid)
		}
	}
	return found, sure, ends
}

// ownerOf returns the live tree that a child of this process belongs to. Where
// there is none, asked says whether the process showed its environment.
func ownerOf(p process) (owner *tree, asked bool) {
	for _, number := range []int{p.pid, p.group} {
		if owner := forest.owner[number]; owner != nil {
			return owner, true
		}
	}
	environ := environOf(p.pid)
	for t := range forest.live {
		if t.carries(environ) {
			return t, true
		}
	}
	return nil, environ != ""
}

// inherits reports whether an orphan that nothing tells apart falls to t: it
// is dead and only waits to be reaped, or all other live trees were started
// after it.
func (t *tree) inherits(p process) bool {
	if p.ours() || p.dead {
		return !p.ours()
	}
	born := startOf(p.pid)
	for other := range forest.live {
		if other != t && startOf(other.root) <= born {
			return false
		}
	}
	return true
}

// killOrphan ends an orphan and reaps it if it is dead. If the leader of its group
// is known to be of the same tree, the whole group ends at once, so that a
// process cannot slip through by forking all the time.
func (t *tree) killOrphan(p process) {
	forest.owner[p.pid] = t
	if forest.owner[p.group] == t {
		_ = syscall.Kill(-p.group, syscall.SIGKILL)
	}
	_ = syscall.Kill(p.pid, syscall.SIGKILL)
	t.reap(p.pid)
}

// ancestors returns the process and its parents. EndStale spares them: a user may work in a shell that a cell started.
func ancestors(pid int) (all []int) {
	for pid > 1 {
		all = append(all, pid)
		parent, _ := fieldIn(statOf(pid), 4)
		pid = int(parent)
	}
	return all
}

// EndStale kills the processes of this user that an accelgate left behind on
// this machine which is gone itself, as after kill -9, and returns how many
// there were: whatever is measured next must not share the machine with them.
// It sees processes of its own process-number namespace only, and spares its own
// parents.
func EndStale() (ended int) {
	here := thisOwner()
	if here == (owner{}) {
		return 0
	}
	gone := func(o owner) bool { return o.boot == here.boot && o.namespace == here.namespace && !o.lives() }
	spared := ancestors(here.pid)
	eachNumberIn("/proc", func(pid int) {
		if !slices.Contains(spared, pid) && stale(environOf(pid), gone) && syscall.Kill(pid, syscall.SIGKILL) == nil {
			ended++
		}
	})
	return ended
}
