package github_test

import (
	"fmt"
	"testing"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// TestLabel: the user who set a label last is named, whatever kind of token asks,
// and only while the label is set.
func TestLabel(t *testing.T) {
	const name = "accelgate-skip"
	for label, c := range map[string]struct {
		act  func(s *githubtest.Server)
		want github.Labelled
	}{
		"none":          {func(*githubtest.Server) {}, github.Labelled{}},
		"another label": {func(s *githubtest.Server) { s.Label(fullName, pullRequest, "alice", "accelgate") }, github.Labelled{}},
		"set":           {func(s *githubtest.Server) { s.Label(fullName, pullRequest, "alice", name) }, github.Labelled{Set: true, By: "alice"}},
		"in another case": {func(s *githubtest.Server) {
			s.Label(fullName, pullRequest, "alice", "Accelgate-Skip")
		}, github.Labelled{Set: true, By: "alice"}},
		"removed": {func(s *githubtest.Server) {
			s.Label(fullName, pullRequest, "alice", name)
			s.Unlabel(fullName, pullRequest, "bob", name)
		}, github.Labelled{}},
		"set by two": {func(s *githubtest.Server) {
			s.Label(fullName, pullRequest, "alice", name)
			s.Unlabel(fullName, pullRequest, "alice", name)
			s.Label(fullName, pullRequest, "mallory", name)
		}, github.Labelled{Set: true, By: "mallory"}},
		"set by an app": {func(s *githubtest.Server) { s.Label(fullName, pullRequest, actionsBot, name) }, github.Labelled{Set: true}},
		"on the third page of events": {func(s *githubtest.Server) {
			for i := range 101 {
				s.Label(fullName, pullRequest, "mallory", fmt.Sprint("l", i))
				s.Unlabel(fullName, pullRequest, "mallory", fmt.Sprint("l", i))
			}
			s.Label(fullName, pullRequest, "alice", name)
		}, github.Labelled{Set: true, By: "alice"}},
	} {
		for _, kind := range tokenKinds {
			t.Run(label+"/"+kind.name, func(t *testing.T) {
				seed := state()
				seed.Tokens = append(seed.Tokens, kind.token)
				s, address := githubtest.New(t, seed)
				c.act(s)
				got, err := client(t, address, kind.token.Value).Label(t.Context(), repo, pullRequest, name)
				if err != nil || got.Set != c.want.Set || got.By != c.want.By || got.At.IsZero() == (got.By != "") {
					t.Errorf("got %+v, %v, want %+v", got, err, c.want)
				}
			})
		}
	}
}
