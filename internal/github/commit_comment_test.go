package github_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// TestCommentOnCommitUnderAnyToken: a commit has one comment of each token's owner and key,
// and another user's with the same hidden line stays as it is.
func TestCommentOnCommitUnderAnyToken(t *testing.T) {
	for _, kind := range tokenKinds {
		t.Run(kind.name, func(t *testing.T) {
			hub, address := kind.starter(t, state())
			s := hub.(asWorkflow).Server
			commit := s.Head(repo.String(), "main")
			forged := "<!-- accelgate v=1 key=k seq=0.0 sum=sha256:" + strings.Repeat("0", 64) + " -->\nforged"
			if err := s.CommentOnCommit(repo.String(), commit, "mallory", forged); err != nil {
				t.Fatal(err)
			}
			c := clientWith(t, github.Options{BaseURL: address, Token: kind.token.Value})
			for _, text := range []string{"one", "one", "two"} {
				url, err := c.CommentOnCommit(t.Context(), repo, commit, "k", github.Fixed(text))
				if err != nil || !strings.Contains(url, "/commit/"+commit) {
					t.Errorf("%s: got %q, %v", text, url, err)
				}
			}
			all := s.CommitComments(repo.String(), commit)
			if len(all) != 2 || all[0].Body != forged || !strings.HasSuffix(all[1].Body, "\ntwo") || all[1].Author != kind.token.Login {
				t.Errorf("got %+v", all)
			}
			if n := count(s, "repos/update-commit-comment"); n != 1 {
				t.Errorf("got %d updates, want 1: the same text is not written again", n)
			}
		})
	}
}

func TestCommentOnCommitRefused(t *testing.T) {
	seed := state()
	seed.Tokens = append(seed.Tokens, githubtest.Token{Value: "ghp_reader0123456789", Login: "erin", Permissions: map[string]string{"contents": "read"}})
	_, address := githubtest.New(t, seed)
	c := clientWith(t, github.Options{BaseURL: address, Token: "ghp_reader0123456789"})
	_, err := c.CommentOnCommit(t.Context(), repo, strings.Repeat("a", 40), "k", github.Fixed("text"))
	if err == nil || !strings.Contains(err.Error(), "contents: write") {
		t.Errorf("got %v", err)
	}
	if _, err := c.CommentOnCommit(t.Context(), repo, "a", "", github.Fixed("text")); err == nil {
		t.Error("a comment without a key is written")
	}
}
