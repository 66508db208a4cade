package githubtest

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/accelgate/accelgate/internal/lazyregexp"
)

// graphqlPath is the address of GraphQL, which GitHub's description of its REST
// API does not cover. One query is served: whose token asks.
const graphqlPath = "/graphql"

// viewerOperation names that query in the log and in faults.
const viewerOperation = "graphql/viewer"

var viewerQuery = lazyregexp.New(`^\s*(query\s*)?\{\s*viewer\s*\{\s*login\s*\}\s*\}\s*$`)

// viewer answers the query that every kind of token may ask.
func (s *Server) viewer(r *http.Request, body []byte, log *Request) response {
	log.Operation = viewerOperation
	if fault, ok := s.takeFault(viewerOperation); ok {
		return encode(fault)
	}
	token, ok := s.authenticate(r)
	if !ok {
		return encode(failure(http.StatusUnauthorized, "Bad credentials"))
	}
	log.Login = token.Login
	var in struct{ Query string }
	if err := json.Unmarshal(body, &in); err != nil || r.Method != http.MethodPost || !viewerQuery.MatchString(in.Query) {
		s.violate("request", log, errors.New("GraphQL serves one query here: query { viewer { login } }"))
		return encode(reply{status: http.StatusOK, body: object{"errors": list{object{"message": "Parse error"}}}})
	}
	return encode(reply{status: http.StatusOK, body: object{"data": object{"viewer": object{"login": token.Login}}}})
}
