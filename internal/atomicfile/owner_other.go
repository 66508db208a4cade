//go:build !unix

package atomicfile

func inherit(string) {}
