//go:build !linux

package mock

func newTimer() (timer, error) { return newRuntimeTimer(), nil }
