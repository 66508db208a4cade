//go:build !cgo

package cli_test

// withCgo reports whether the binary has cgo.
const withCgo = false
