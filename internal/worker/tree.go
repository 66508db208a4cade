package worker

import (
	"crypto/rand"
	"os/exec"
	"strings"
)

// Cell is the environment variable in which every child and what descends from
// it carries a random value of its own, so that orphans of several requests
// are told apart. Where accelgate runs below accelgate the values of both stand
// in it, joined by ".", the outer one first.
const Cell = "ACCELGATE_CELL"

// tree is a child and all that descends from it.
type tree struct {
	root   int    // number of the child, a process that was not waited for
	cookie string // its value in [Cell]
}

// mark gives cmd a cookie.
func (t *tree) mark(cmd *exec.Cmd) {
	t.cookie = rand.Text()
	value := t.cookie
	if outer := lookup(cmd.Env, Cell); outer != "" {
		value = outer + "." + value
	}
	cmd.Env = append(cmd.Env, Cell+"="+value)
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
