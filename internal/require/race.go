//go:build race

package require

// Race reports whether the race detector is in this binary.
const Race = true
