//go:build cgo

package cli_test

// withCgo reports whether the binary has cgo, with which a process cannot renounce
// new privileges on all of its threads. Releases have none.
const withCgo = true
