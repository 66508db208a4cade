//go:build !linux

package fakeserver

func newTimer() (timer, error) { return newRuntimeTimer(), nil }
