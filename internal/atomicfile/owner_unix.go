//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
)

// inherit gives a folder that root made to the owner of the one that it is in.
// Where even root may not, as without CAP_CHOWN, it stays root's.
func inherit(dir string) {
	info, err := os.Stat(filepath.Dir(dir))
	if err != nil || os.Geteuid() != 0 {
		return
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = os.Lchown(dir, int(owner.Uid), int(owner.Gid))
	}
}
