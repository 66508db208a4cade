package githubtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// The kinds of answers that a server or a proxy gives which is broken rather than down.
const (
	Empty   Kind = "empty"    // 200 or 201 with {}, after the request took effect
	Null    Kind = "null"     // the same with null
	Short   Kind = "short"    // the content of a file ends early, and its size does not say so
	Trickle Kind = "trickle"  // the body comes byte by byte
	NoCheck Kind = "no-check" // 404 to a change of a check run
	NoGraph Kind = "no-graph" // GraphQL answers with errors, or fails
	Expired Kind = "expired"  // this request and all that follow are 401
)

// Answers returns the kinds of broken answers. They are not among Kinds.
func Answers() []Kind { return []Kind{Empty, Null, Short, Trickle, NoCheck, NoGraph, Expired} }

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
	case Empty:
		return delivery{response: hollow(serve(), "{}")}
	case Null:
		return delivery{response: hollow(serve(), "null")}
	case Short:
		return delivery{response: shorten(serve())}
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

// hollow is an answer without what it should say.
func hollow(r response, body string) response {
	if r.status == http.StatusOK || r.status == http.StatusCreated {
		r.body = []byte(body)
	}
	return r
}

// shorten cuts the content of a file in half, in an answer that has one.
func shorten(r response) response {
	var answer map[string]any
	if json.Unmarshal(r.body, &answer) != nil {
		return r
	}
	content, _ := answer["content"].(string)
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(content, "\n", ""))
	if err != nil || len(data) == 0 {
		return r
	}
	answer["content"] = base64.StdEncoding.EncodeToString(data[:len(data)/2])
	r.body, _ = json.Marshal(answer) // it was JSON
	return r
}
