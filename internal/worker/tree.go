package worker

import (
	"crypto/rand"
	"os/exec"
	"strings"
	"sync"
)

// Cell is the environment variable in which every child and what descends from
// it carries a value of its own, so that orphans of several requests are
// distinguished: the [owner] that started it and random text. Where accelgate runs below
// accelgate the values of both stand in it, joined by ".", the outer one first.
const Cell = "ACCELGATE_CELL"

// tree is a child and all that descends from it.
type tree struct {
	root   int    // number of the child, a process that was not waited for
	cookie string // its value in [Cell]
	// orphans is what those used that were reaped here.
	orphans Usage
}

// mark gives cmd a cookie.
func (t *tree) mark(cmd *exec.Cmd) {
	t.cookie = thisOwner().String() + "/" + rand.Text()
	value := t.cookie
	if outer := Getenv(cmd.Env, Cell); outer != "" {
		value = outer + "." + value
	}
	cmd.Env = append(cmd.Env, Cell+"="+value)
}

// thisOwner is the owner of all trees of this process.
var thisOwner = sync.OnceValue(thisProcess)

// stale reports whether environ, as /proc/PID/environ holds it, is that of a
// process whose accelgate is gone: it was killed and could end nothing.
func stale(environ string, gone func(owner) bool) bool {
	for entry := range strings.SplitSeq(environ, "\x00") {
		value, ok := strings.CutPrefix(entry, Cell+"=")
		if !ok {
			continue
		}
		for cookie := range strings.SplitSeq(value, ".") {
			if i := strings.LastIndexByte(cookie, '/'); i > 0 {
				if o, ok := parseOwner(cookie[:i]); ok && gone(o) {
					return true
				}
			}
		}
	}
	return false
}

// carries reports whether environ, as /proc/PID/environ holds it, shows the
// cookie.
func (t *tree) carries(environ string) bool {
	for entry := range strings.SplitSeq(environ, "\x00") {
		if value, ok := strings.CutPrefix(entry, Cell+"="); ok {
			for cookie := range strings.SplitSeq(value, ".") {
				if cookie == t.cookie {
					return true
				}
			}
		}
	}
	return false
}
