//go:build !linux

package worker

import (
	"os"
	"os/exec"
	"time"
)

func (t *tree) start(cmd *exec.Cmd) error {
	t.mark(cmd)
	return cmd.Start()
}

// end can do nothing here: nothing tells which orphan descends from whom.
func (t *tree) end(time.Duration) (left int) { return 0 }

func (t *tree) abandon() {}

func (t *tree) waitAlone(*exec.Cmd) bool { return false }

func (t *tree) wait(cmd *exec.Cmd) { _ = cmd.Wait() }

// unread is not known here.
func unread(*os.File) int32 { return 0 }

// EndStale can do nothing here: processes do not show whose they are.
func EndStale() int { return 0 }
