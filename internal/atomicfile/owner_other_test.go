//go:build !unix

package atomicfile_test

import "os"

func sameOwner(os.FileInfo, os.FileInfo) bool { return true }
