package worker

import (
	"fmt"
	"strconv"
	"strings"
)

// Account is whom a process belongs to, in numbers: an image without a list of
// users has no names.
type Account struct {
	UID, GID int
	Groups   []int // further ones
}

// String returns the form that ParseAccount reads.
func (a Account) String() string {
	s := fmt.Sprintf("%d:%d", a.UID, a.GID)
	for _, g := range a.Groups {
		s += fmt.Sprintf(",%d", g)
	}
	return s
}

// ParseAccount reads "UID:GID" or "UID:GID,GROUP,...". Root is refused.
func ParseAccount(s string) (Account, error) {
	user, groups, ok := strings.Cut(s, ":")
	numbers := []int{}
	for _, word := range append([]string{user}, strings.Split(groups, ",")...) {
		n, err := strconv.ParseUint(word, 10, 31)
		ok = ok && err == nil
		numbers = append(numbers, int(n))
	}
	if !ok || numbers[0] == 0 {
		return Account{}, fmt.Errorf("%q is not an account: give UID:GID or UID:GID,GROUP,... in numbers, and not root's", s)
	}
	return Account{UID: numbers[0], GID: numbers[1], Groups: numbers[2:]}, nil
}
