package cluster

import (
	"context"
	"errors"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// States are those of the jobs of an array, by the number of the shard.
type States map[int]State

// State is what a batch system reports of one job. Its texts are untrusted, made fit for a message.
type State struct {
	Job  string // as the tool names it: "123_4"
	What string // "CANCELLED", "PENDING (Resources)"

	array uint64 // the larger, the newer
}

// QueryStates returns the states of the newest jobs of this name; with ids, only of those jobs. It returns none if the
// tool is not installed, or if its answer cannot be read, for the reason in trouble.
func QueryStates(ctx context.Context, w worker.Worker, system, name string, ids []string) (of States, trouble string) {
	switch system {
	case Slurm:
		return querySlurm(ctx, w, name, ids)
	case Kubernetes:
		return queryKubernetes(ctx, w, name, ids)
	}
	return nil, ""
}

// answer runs a tool. Where ok is false, trouble says why, unless the tool is not installed.
func answer(ctx context.Context, w worker.Worker, args ...string) (out []byte, trouble string, ok bool) {
	r, err := w.Do(ctx, worker.Request{Args: args, Timeout: queryLimit})
	switch {
	case err != nil:
		return nil, args[0] + ": " + text.OneLine(err.Error()), false
	case errors.Is(r.StartErr, worker.ErrNotFound):
		return nil, "", false
	case !r.OK():
		return nil, args[0] + ": " + text.OneLine(r.Reason()+" "+text.LastLine(r.Log)), false
	}
	return r.Stdout, "", true
}

var plainWord = lazyregexp.New(`^[A-Za-z0-9_.,:()+-]{1,64}$`)

// word returns a word of a tool's answer for a message; "" if it is not one plain word.
func word(s string) string {
	if s = strings.TrimSpace(s); plainWord.MatchString(s) {
		return s
	}
	return ""
}

// put keeps the state of a shard that belongs to the newest array.
func (s States) put(shard int, state State) {
	if known, ok := s[shard]; !ok || state.array >= known.array {
		s[shard] = state
	}
}
