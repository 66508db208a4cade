//go:build !linux

package worker

// ownPeak is 0: a child does not inherit it.
func ownPeak() int64 { return 0 }
