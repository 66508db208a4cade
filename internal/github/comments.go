package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// posted is a comment of ours under a key.
type posted struct {
	marker
	id   int64
	url  string
	body string // below the marker
}

// compare orders by run, and of one run the younger comment first.
func (p posted) compare(other posted) int {
	return cmp.Or(p.seq.compare(other.seq), -cmp.Compare(p.id, other.id))
}

// listed is a comment in a listing, with the app that wrote it, which go-github
// leaves out.
type listed struct {
	gh.IssueComment
	App *gh.App `json:"performed_via_github_app"`
}

// ownComments returns the comments that carry key and that the token's owner
// wrote, oldest first. A text that is not the one which its hidden line was
// written for is of an unknown run.
func (c *Client) ownComments(ctx context.Context, repo Repo, issue int, key string) ([]posted, error) {
	me, err := c.whose(ctx)
	if err != nil {
		return nil, err
	}
	all, err := allPages(func(page gh.ListOptions) ([]*listed, *gh.Response, error) {
		return c.listComments(ctx, repo, issue, page)
	})
	if err != nil {
		return nil, explain(fmt.Sprintf("read the comments on %s#%d", repo, issue), commentPermission, err)
	}
	var mine []posted
	for _, o := range all {
		if o == nil || !me.wrote(o) {
			continue
		}
		first, body, _ := strings.Cut(o.GetBody(), "\n")
		if m, ok := parseMarker(first); ok && m.key == key {
			mine = append(mine, posted{marker: m.of(body), id: o.GetID(), url: o.GetHTMLURL(), body: body})
		}
	}
	slices.SortFunc(mine, func(a, b posted) int { return cmp.Compare(a.id, b.id) })
	return mine, nil
}

func (c *Client) listComments(ctx context.Context, repo Repo, issue int,
	page gh.ListOptions) (all []*listed, response *gh.Response, err error) {
	address := repo.path(fmt.Sprintf("issues/%d/comments?page=%d&per_page=%d", issue, page.Page, page.PerPage))
	request, err := c.api.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	response, err = c.api.Do(ctx, request, &all)
	return all, response, err
}

// ran reports whether a workflow run exists. Only a plain "not found" says that
// it does not.
func (c *Client) ran(ctx context.Context, repo Repo, seq Seq) bool {
	known := manner{answers: []int{http.StatusNotFound, http.StatusForbidden}}
	_, _, err := c.api.Actions.GetWorkflowRunByID(known.in(ctx), repo.Owner, repo.Name, seq.Run)
	return status(err) != http.StatusNotFound
}
