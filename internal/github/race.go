package github

import (
	"context"
	"errors"
	"slices"

	gh "github.com/google/go-github/v62/github"
)

// errMoved reports that another writer moved a branch since it was read.
var errMoved = errors.New("the branch was moved by another writer")

// maxRaces bounds how many times another writer may come first.
const maxRaces = 200

// stepAside waits at random, longer after each lost race. A turn takes some
// seconds, as writes are a second apart.
func (p *proposal) stepAside(ctx context.Context) error {
	return p.client.sender.pause(ctx, p.client.jitter(min(4*firstSpread<<min(p.lost, 10), 3*maxSpread)))
}

// raced reports whether another writer changed the branch or opened the pull request
// at the same time.
func raced(err error) bool {
	if errors.Is(err, errMoved) {
		return true
	}
	if slices.ContainsFunc([]string{
		"pull request already exists", "not a fast forward", "Reference does not exist", "Reference already exists", "No commits between",
	}, func(text string) bool { return rejected(err, text) }) {
		return true
	}
	var failed *gh.ErrorResponse // a branch that was just deleted
	return errors.As(err, &failed) && slices.ContainsFunc(failed.Errors, func(e gh.Error) bool {
		return e.Resource == "PullRequest" && e.Field == "head" && e.Code == "invalid"
	})
}
