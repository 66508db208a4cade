//go:build !linux

package worker

// requestContainerStacks requests none: the processes of a container are those of another system.
func requestContainerStacks(*stacks, string, []string) (all, signalled bool) { return false, false }
