package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// replace moves the branch from a commit to a new one with a tree and without
// parents, so that a clone holds the newest files only. A branch that does not
// exist is created. The REST API cannot move a branch backwards under the
// condition that nothing has moved it meanwhile; the mutation updateRefs can.
// Source: https://docs.github.com/graphql/reference/mutations#updaterefs
func (v *revising) replace(ctx context.Context, from tip, tree string) error {
	if from.sha == "" {
		return v.advance(ctx, from, tree, nil, v.Message)
	}
	commit, _, err := v.client.api.Git.CreateCommit(repeatable(ctx), v.repo.Owner, v.repo.Name,
		&gh.Commit{Message: &v.Message, Tree: &gh.Tree{SHA: &tree}}, nil)
	if err != nil {
		return v.fail(contentsPermission, err)
	}
	err = v.client.updateRef(ctx, v.node, refUpdate{Name: "refs/heads/" + v.Branch, Before: from.sha, After: commit.GetSHA(), Force: true})
	v.changed = v.changed || err == nil || passing(err)
	if err == nil {
		return nil
	}
	now, look := v.head(ctx, v.Branch)
	if look == nil && now.sha != from.sha { // by this request, whose answer was lost, or by another writer
		return errMoved
	}
	return v.fail(contentsPermission, err)
}

// refUpdate is the input RefUpdate of GraphQL.
type refUpdate struct {
	Name   string `json:"name"`
	Before string `json:"beforeOid"`
	After  string `json:"afterOid"`
	Force  bool   `json:"force"`
}

const updateRefs = "mutation($repository: ID!, $update: RefUpdate!) { updateRefs(input: {repositoryId: $repository, refUpdates: [$update]}) { clientMutationId } }"

// updateRef moves a ref if it still points to the commit before.
func (c *Client) updateRef(ctx context.Context, repository string, update refUpdate) error {
	var answer struct {
		Errors []struct{ Type, Message string }
	}
	query := map[string]any{"query": updateRefs, "variables": map[string]any{"repository": repository, "update": update}}
	if err := c.graphql(repeatable(ctx), query, &answer); err != nil {
		return err
	}
	if len(answer.Errors) == 0 {
		return nil
	}
	refused := answer.Errors[0]
	switch refused.Type {
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		return hopeless{fmt.Errorf("%w: %s: add %q to the job's permissions", ErrForbidden, refused.Message, contentsPermission)}
	}
	return fmt.Errorf("GitHub refused to move the branch: %s", refused.Message)
}

// graphql sends a query. Its address is beside that of the REST API: /graphql,
// and on GitHub Enterprise Server /api/graphql beside /api/v3.
func (c *Client) graphql(ctx context.Context, query, answer any) error {
	address := "graphql"
	if strings.HasSuffix(c.api.BaseURL.Path, "/api/v3/") {
		address = "../graphql"
	}
	request, err := c.api.NewRequest(http.MethodPost, address, query)
	if err != nil {
		return err
	}
	_, err = c.api.Do(ctx, request, answer)
	return err
}
