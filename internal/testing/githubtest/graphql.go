package githubtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// graphqlPath is the address of GraphQL, which GitHub's description of its REST
// API does not cover. Two operations are served: whose token asks, and the move
// of a ref under the condition that it points to a given commit.
const graphqlPath = "/graphql"

// The names of the operations in the log and in faults.
const (
	viewerOperation = "graphql/viewer"
	updateOperation = "graphql/updateRefs"
)

var viewerQuery = lazyregexp.New(`^\s*(query\s*)?\{\s*viewer\s*\{\s*login\s*\}\s*\}\s*$`)

var updateMutation = lazyregexp.New(`^mutation\(\$repository: ID!, \$update: RefUpdate!\) \{ ` +
	`updateRefs\(input: \{repositoryId: \$repository, refUpdates: \[\$update\]\}\) \{ clientMutationId \} \}$`)

// graphql answers one of the operations.
func (s *Server) graphql(r *http.Request, body []byte, log *Request) response {
	var in struct {
		Query     string
		Variables struct {
			Repository string
			Update     struct {
				Name, BeforeOid, AfterOid string
				Force                     bool
			}
		}
	}
	err := json.Unmarshal(body, &in)
	update := err == nil && updateMutation.MatchString(in.Query)
	log.Operation = viewerOperation
	if update {
		log.Operation = updateOperation
	}
	if fault, ok := s.takeFault(log.Operation); ok {
		return encode(fault)
	}
	token, ok := s.authenticate(r)
	if !ok {
		return encode(failure(http.StatusUnauthorized, "Bad credentials"))
	}
	log.Login = token.Login
	if update {
		v := in.Variables
		return s.updateRefs(token, v.Repository, v.Update.Name, v.Update.BeforeOid, v.Update.AfterOid, v.Update.Force)
	}
	if err != nil || r.Method != http.MethodPost || !viewerQuery.MatchString(in.Query) {
		s.violate("request", log, errors.New("GraphQL serves two operations here: query { viewer { login } } and mutation updateRefs"))
		return graphqlError("", "Parse error")
	}
	return encode(reply{status: http.StatusOK, body: object{"data": object{"viewer": object{"login": token.Login}}}})
}

func graphqlError(kind, format string, args ...any) response {
	return encode(reply{status: http.StatusOK, body: object{"errors": list{object{"type": kind, "message": fmt.Sprintf(format, args...)}}}})
}

// updateRefs moves a ref from a commit to another.
func (s *Server) updateRefs(token Token, node, name, before, after string, force bool) response {
	repo := s.byNode(node)
	if repo == nil {
		return graphqlError("NOT_FOUND", "Could not resolve to a node with the global id of '%s'", node)
	}
	if !token.may("write", []string{"contents"}) {
		return graphqlError("FORBIDDEN", "Resource not accessible by integration")
	}
	_, known := repo.git.commits[after]
	switch at := repo.refs[name]; {
	case !strings.HasPrefix(name, "refs/heads/") || !known:
		return graphqlError("UNPROCESSABLE", "Object does not exist")
	case at != before:
		return graphqlError("UNPROCESSABLE", "Reference was expected to point to %s, but points to %s", before, at)
	case !force && !repo.git.reaches(after, before):
		return graphqlError("UNPROCESSABLE", "Update is not a fast forward")
	}
	repo.refs[name] = after
	return encode(reply{status: http.StatusOK, body: object{"data": object{"updateRefs": object{"clientMutationId": nil}}}})
}

// nodeID is the id of the repository in GraphQL.
func (r *repository) nodeID() string { return fmt.Sprint("R_", r.id) }

func (s *Server) byNode(id string) *repository {
	for _, r := range s.repos {
		if r.nodeID() == id {
			return r
		}
	}
	return nil
}
