package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// actionsBot is who a workflow's own token acts as.
const actionsBot = "github-actions[bot]"

// botSuffix ends the logins of GitHub Apps.
const botSuffix = "[bot]"

// identity is who the token acts as. The zero value is an app that GitHub did
// not name: every comment that an app made under our marker is then ours.
type identity struct {
	login  string // "" for an app without a name
	unsure error  // why GitHub did not name the app, where it may the next time
}

// whose returns who the token acts as. It asks once for each client. GraphQL
// names people and apps; GET /user names people only, and stands in where a
// server has no GraphQL, or none that works.
func (c *Client) whose(ctx context.Context) (identity, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.me != nil {
		return *c.me, nil
	}
	login, unsure := c.viewer(ctx)
	err := unsure
	if login == "" && !errors.Is(err, errNoTime) {
		login, err = c.user(ctx)
	}
	switch {
	case login != "":
	case c.author != "" && status(err) != http.StatusUnauthorized:
		login = c.author
	case !c.installation || !slices.Contains(refusals, status(err)) || limited(err):
		return identity{}, explain("ask whose token this is", "", err)
	}
	if c.installation && login != "" && !strings.HasSuffix(login, botSuffix) {
		login += botSuffix // GitHub's addresses of apps leave it out
	}
	c.me = &identity{login: login}
	if login == "" && passing(unsure) {
		c.me.unsure = fmt.Errorf(
			"ask whose token this is: %w: run it again, or set the input token-author to the login that the token acts as", unsure)
	}
	return *c.me, nil
}

// signer returns the login under which GitHub signs this app's commits, "" where it
// does not tell. Unlike whose it fails, and asks anew, where GitHub failed to tell:
// the commits of all jobs would pass for those of others. The addresses in commits of
// GitHub Enterprise Server are not known to be kept from users.
func (c *Client) signer(ctx context.Context) (string, error) {
	if strings.HasPrefix(c.api.BaseURL.Path, "/api/v3") {
		return "", nil
	}
	c.mu.Lock()
	if c.me != nil && c.me.unsure != nil {
		c.me = nil
	}
	c.mu.Unlock()
	me, err := c.whose(ctx)
	return me.login, cmp.Or(err, me.unsure)
}

// viewer asks GraphQL, the one interface that answers every kind of token.
func (c *Client) viewer(ctx context.Context) (string, error) {
	var answer struct {
		Data struct{ Viewer struct{ Login string } }
	}
	err := c.graphql(manner{reads: true, tries: 2}.in(ctx), map[string]string{"query": "query { viewer { login } }"}, &answer)
	if err == nil && answer.Data.Viewer.Login == "" {
		err = errors.New("GraphQL names no viewer")
	}
	return answer.Data.Viewer.Login, err
}

// refusals are the statuses with which GitHub leaves the question of whose token
// it is unanswered.
var refusals = []int{http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity}

// user asks for the person that the token belongs to. Apps get 403.
func (c *Client) user(ctx context.Context) (string, error) {
	user, _, err := c.api.Users.Get(asked.in(ctx), "")
	return user.GetLogin(), err
}

// learn keeps the name of an app that GitHub's answer to a write gave.
func (c *Client) learn(app *gh.App) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.me != nil && c.me.login == "" && app.GetSlug() != "" {
		c.me = &identity{login: app.GetSlug() + botSuffix}
	}
}

// wrote reports whether a comment is by the token's owner.
func (i identity) wrote(o *listed) bool {
	author := o.GetUser().GetLogin()
	if i.login != "" {
		return strings.EqualFold(author, i.login)
	}
	return o.App != nil && strings.EqualFold(author, o.App.GetSlug()+botSuffix)
}

// made reports whether a check run is by the token's app.
func (i identity) made(run *gh.CheckRun) bool {
	return i.login == "" || strings.EqualFold(run.GetApp().GetSlug()+botSuffix, i.login)
}

// FromActionsToken reports whether the token is a workflow's own GITHUB_TOKEN,
// as far as can be told without asking. What such a token does starts no
// workflows, so a pull request made with it gets no checks until somebody
// pushes or reopens it:
// https://docs.github.com/actions/concepts/security/github_token
func (c *Client) FromActionsToken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.me != nil && c.me.login != "" {
		return c.me.login == actionsBot
	}
	return c.installation && (c.author == "" || c.author == actionsBot)
}
