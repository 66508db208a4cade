//go:build !unix

package safetensors

import "os"

const nonblock, noFollow = 0, 0

func mapFile(f *os.File, size int) ([]byte, func() error, error) { return readFile(f, size) }
