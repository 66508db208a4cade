package githubtest

import (
	"net/http"
	"strings"
)

// The kinds of answers of a server or a proxy that is broken in a lasting way.
const (
	Trickle Kind = "trickle"  // the body comes byte by byte
	NoCheck Kind = "no-check" // 404 to a change of a check run
	NoGraph Kind = "no-graph" // GraphQL answers with errors, or fails
	Expired Kind = "expired"  // this request and all that follow are 401
)

// Answers returns the kinds of broken answers. They are not among Kinds.
func Answers() []Kind { return []Kind{Trickle, NoCheck, NoGraph, Expired} }

// strikes reports whether a kind can happen to a request.
func (k Kind) strikes(r *http.Request) bool {
	switch k {
	case NoCheck:
		return r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/check-runs/")
	case NoGraph:
		return r.URL.Path == graphqlPath
	}
	return true
}

// broken serves a request whose answer is broken in this way.
func (s *Server) broken(kind Kind, serve func() response) delivery {
	switch kind {
	case NoCheck:
		return delivery{response: encode(notFound())}
	case NoGraph:
		if s.chaos.random.IntN(2) == 0 {
			return delivery{response: graphqlError("", "Something went wrong while executing your query.")}
		}
		return delivery{response: encode(failure(http.StatusBadGateway, "Server Error"))}
	case Expired:
		s.tokens = map[string]Token{}
		return delivery{response: serve()}
	case Trickle:
		return delivery{response: serve(), drops: s.chaos.Pause, sleep: s.chaos.Sleep}
	}
	return delivery{response: serve()}
}
