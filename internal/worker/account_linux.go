package worker

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Become turns this process, which is root's, into one of an account for good,
// with these groups and no others, and keeps it and its children from gaining
// rights by programs that are set-user-id. See setuid(2) and PR_SET_NO_NEW_PRIVS
// in prctl(2).
func Become(a Account) error {
	const noNewPrivs = 38 // PR_SET_NO_NEW_PRIVS of prctl(2), which package syscall lacks
	_, _, errno := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, noNewPrivs, 1, 0, 0, 0, 0)
	if errno != 0 && errno != syscall.ENOTSUP { // a build with cgo cannot: rights are given up all the same
		return fmt.Errorf("renounce new privileges: %w", errno)
	}
	if err := errors.Join(syscall.Setgroups(a.Groups), syscall.Setgid(a.GID), syscall.Setuid(a.UID)); err != nil {
		return fmt.Errorf("become user %d of group %d: %w", a.UID, a.GID, err)
	}
	return nil
}

// Owner returns the account that owns a file.
func Owner(path string) (Account, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Account{}, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Account{}, fmt.Errorf("the owner of %s is unknown", path)
	}
	return Account{UID: int(stat.Uid), GID: int(stat.Gid)}, nil
}

// Accessible reports whether this process may read and write a file.
func Accessible(path string) bool {
	const readWrite = 6 // R_OK|W_OK of access(2)
	return syscall.Access(path, readWrite) == nil
}
