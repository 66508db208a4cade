//go:build !linux

package worker

import "errors"

var errNoAccounts = errors.New("a process can change its account on Linux only")

// Become is for Linux, where container actions run.
func Become(Account) error { return errNoAccounts }

// Owner is for Linux, where container actions run.
func Owner(string) (Account, error) { return Account{}, errNoAccounts }

// Accessible is for Linux, where container actions run.
func Accessible(string) bool { return true }
