package actions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// maxEvent bounds the event file. GitHub caps webhook payloads at 25 MB.
const maxEvent = 25 << 20

// Event describes why the workflow runs and where. All of it is checked for its
// shape; names of branches are still chosen by strangers.
type Event struct {
	// Name is the event as in the workflow's "on": "pull_request".
	Name string
	// PullRequest is nil if the event is not about one.
	PullRequest *PullRequest
	// Comment is nil if the event is not about a comment.
	Comment *Comment
	// Run is nil if the event is not workflow_run.
	Run *Run
	// Group is nil if the event is not merge_group.
	Group *Group
	// Inputs are those of a workflow_dispatch, booleans and numbers as text.
	Inputs map[string]string

	// Owner and Repo name the repository that the workflow runs in.
	Owner, Repo string
	// DefaultBranch is "" where the event does not tell.
	DefaultBranch string
	// SHA is the commit checked out by default: for a pull request a merge of
	// head and base, see [PullRequest] for the head.
	SHA string
	// Ref is the full ref, such as "refs/heads/main", or "".
	Ref string

	RunID, RunAttempt int64
	// RunURL is the page of this attempt. ServerURL and APIURL have no slash
	// at the end.
	RunURL, ServerURL, APIURL string
}

// PullRequest is the pull request that an event is about.
type PullRequest struct {
	Number           int
	HeadSHA, BaseSHA string
	HeadRef, BaseRef string // short names of branches
	// HeadRepo is "owner/name", or "" if that repository was deleted.
	HeadRepo string
	// Fork reports whether the head may come from outside of the repository.
	// It is true if that is not known.
	Fork bool
}

// Group is what a merge queue is about to merge.
type Group struct {
	BaseSHA string // the parent of its commits: the branch, or the group before it in the queue
	BaseRef string // short name of the branch that it goes into
}

// Comment is a comment that somebody, perhaps a stranger, has made.
type Comment struct {
	ID     int64
	Author string // login
	Body   string // as it is now
	Issue  int    // number of the issue or pull request
	// Created is when it was made; zero where the payload does not say.
	Created time.Time
	// New reports whether it has just been made, rather than edited, perhaps by
	// somebody other than its author, or deleted.
	New bool
	// Bot reports whether its author is a program, which may quote a stranger.
	Bot bool
	// OnPullRequest reports whether it is on a pull request.
	OnPullRequest bool
}

// Run is the workflow run that a workflow_run event is about. It has run code
// of its head, which may be a stranger's.
type Run struct {
	ID, Attempt int64
	Event       string // that started it
	HeadSHA     string
	HeadBranch  string
	HeadRepo    string // "owner/name", or "" if that repository was deleted
	// Skipped reports whether no job of it ran.
	Skipped bool
}

// Repository returns "owner/name".
func (e Event) Repository() string { return e.Owner + "/" + e.Repo }

// Event reads the event file and the environment of the step.
func (a *Action) Event() (Event, error) {
	path := a.getenv("GITHUB_EVENT_PATH")
	if path == "" {
		return Event{}, errors.New("read event: GITHUB_EVENT_PATH is not set; run as a step of a workflow")
	}
	f, err := os.Open(path)
	if err != nil {
		return Event{}, fmt.Errorf("read event: %w; check GITHUB_EVENT_PATH", err)
	}
	defer f.Close()
	payload, err := io.ReadAll(io.LimitReader(f, maxEvent+1))
	if err != nil {
		return Event{}, fmt.Errorf("read event: %w; check GITHUB_EVENT_PATH", err)
	}
	return ParseEvent(payload, a.getenv)
}

// ParseEvent reads the payload of an event together with the environment that
// came with it. Its errors name the variable or the member that is wrong.
func ParseEvent(payload []byte, getenv func(string) string) (Event, error) {
	var p payloadJSON
	if err := decode(payload, &p); err != nil {
		return Event{}, err
	}
	env := environment{getenv: getenv}
	e := Event{
		Name:          env.match("GITHUB_EVENT_NAME", "", eventName),
		SHA:           env.match("GITHUB_SHA", "", sha),
		RunID:         env.number("GITHUB_RUN_ID", ""),
		RunAttempt:    env.number("GITHUB_RUN_ATTEMPT", "1"),
		ServerURL:     env.url("GITHUB_SERVER_URL", "https://github.com"),
		APIURL:        env.url("GITHUB_API_URL", "https://api.github.com"),
		DefaultBranch: p.Repository.DefaultBranch,
		Ref:           getenv("GITHUB_REF"),
	}
	e.Owner, e.Repo, _ = strings.Cut(env.match("GITHUB_REPOSITORY", "", repository), "/")
	if env.err != nil {
		return Event{}, env.err
	}
	e.RunURL = fmt.Sprintf("%s/%s/actions/runs/%d/attempts/%d", e.ServerURL, e.Repository(), e.RunID, e.RunAttempt)
	if err := e.fill(p); err != nil {
		return Event{}, fmt.Errorf("event %s: %w; pass the event file of this run", e.Name, err)
	}
	return e, nil
}

// fill takes over what the payload says about the pull request and inputs.
func (e *Event) fill(p payloadJSON) (err error) {
	switch {
	case e.Ref != "" && !ref(e.Ref):
		return fmt.Errorf("GITHUB_REF is %s, not the name of a ref", quote(e.Ref))
	case e.DefaultBranch != "" && !ref(e.DefaultBranch):
		return fmt.Errorf("repository.default_branch is %s, not the name of a branch", quote(e.DefaultBranch))
	case p.Repository.FullName != "" && !strings.EqualFold(p.Repository.FullName, e.Repository()):
		return fmt.Errorf("repository.full_name is %s, not GITHUB_REPOSITORY %s", quote(p.Repository.FullName), e.Repository())
	case p.PullRequest == nil && strings.HasPrefix(e.Name, "pull_request"):
		return errors.New("pull_request is missing")
	}
	if p.PullRequest != nil {
		if e.PullRequest, err = p.PullRequest.check(e.Repository()); err != nil {
			return err
		}
	}
	if e.Name == "issue_comment" {
		if e.Comment, err = p.comment(); err != nil {
			return err
		}
	}
	if e.Name == "workflow_run" {
		if e.Run, err = p.WorkflowRun.check(); err != nil {
			return err
		}
	}
	if e.Name == "merge_group" {
		if e.Group, err = p.MergeGroup.check(); err != nil {
			return err
		}
	}
	e.Inputs, err = inputs(p.Inputs)
	return err
}

// payloadJSON is the part of a webhook payload that is used; see
// https://docs.github.com/webhooks/webhook-events-and-payloads.
type payloadJSON struct {
	Action     string `json:"action"`
	Repository struct {
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
	PullRequest *pullRequestJSON           `json:"pull_request"`
	Inputs      map[string]json.RawMessage `json:"inputs"`
	Issue       *struct {
		Number      int              `json:"number"`
		PullRequest *json.RawMessage `json:"pull_request"`
	} `json:"issue"`
	CommentOf   *commentJSON     `json:"comment"`
	WorkflowRun *workflowRunJSON `json:"workflow_run"`
	MergeGroup  mergeGroupJSON   `json:"merge_group"`
}

type pullRequestJSON struct {
	Number int        `json:"number"`
	Head   branchJSON `json:"head"`
	Base   branchJSON `json:"base"`
}

type branchJSON struct {
	SHA  string `json:"sha"`
	Ref  string `json:"ref"`
	Repo *struct {
		FullName string `json:"full_name"`
	} `json:"repo"` // null if the repository was deleted
}

func decode(payload []byte, p *payloadJSON) error {
	if len(payload) > maxEvent {
		return fmt.Errorf("event file is larger than %d bytes; check GITHUB_EVENT_PATH", maxEvent)
	}
	if err := json.Unmarshal(bytes.TrimPrefix(payload, []byte("\ufeff")), p); err != nil {
		return fmt.Errorf("event file is not an event: %w; check GITHUB_EVENT_PATH", err)
	}
	return nil
}

func (p *pullRequestJSON) check(base string) (*PullRequest, error) {
	switch {
	case p.Number <= 0:
		return nil, fmt.Errorf("pull_request.number is %d, not positive", p.Number)
	case !sha(p.Head.SHA):
		return nil, fmt.Errorf("pull_request.head.sha is %s, not a commit", quote(p.Head.SHA))
	case !sha(p.Base.SHA):
		return nil, fmt.Errorf("pull_request.base.sha is %s, not a commit", quote(p.Base.SHA))
	case !ref(p.Head.Ref):
		return nil, fmt.Errorf("pull_request.head.ref is %s, not the name of a branch", quote(p.Head.Ref))
	case !ref(p.Base.Ref):
		return nil, fmt.Errorf("pull_request.base.ref is %s, not the name of a branch", quote(p.Base.Ref))
	}
	pr := &PullRequest{
		Number:  p.Number,
		HeadSHA: p.Head.SHA, BaseSHA: p.Base.SHA,
		HeadRef: p.Head.Ref, BaseRef: p.Base.Ref,
		Fork: true,
	}
	if r := p.Head.Repo; r != nil {
		if !repository(r.FullName) {
			return nil, fmt.Errorf("pull_request.head.repo.full_name is %s, not owner/name", quote(r.FullName))
		}
		pr.HeadRepo = r.FullName
		pr.Fork = !strings.EqualFold(r.FullName, base)
	}
	return pr, nil
}

// inputs turns the inputs of a dispatch into text. They arrive as text through
// the API and as JSON booleans and numbers from the web form.
func inputs(raw map[string]json.RawMessage) (map[string]string, error) {
	const limit = 100 // GitHub allows 25
	if len(raw) > limit {
		return nil, fmt.Errorf("%d inputs are more than the %d allowed", len(raw), limit)
	}
	var values map[string]string
	for name, data := range raw {
		var text string
		switch {
		case string(data) == "null":
			continue
		case data[0] == '"':
			if err := json.Unmarshal(data, &text); err != nil {
				return nil, fmt.Errorf("input %s: %w", quote(name), err)
			}
		case data[0] == '{' || data[0] == '[':
			return nil, fmt.Errorf("input %s is neither text nor boolean nor number", quote(name))
		default:
			text = string(data)
		}
		if values == nil {
			values = map[string]string{}
		}
		values[name] = text
	}
	return values, nil
}

// environment reads variables and keeps the first error.
type environment struct {
	getenv func(string) string
	err    error
}

// match returns the variable, or unset if it is empty, if it satisfies valid.
func (env *environment) match(name, unset string, valid func(string) bool) string {
	s := cmp.Or(env.getenv(name), unset)
	if valid(s) {
		return s
	}
	if env.err == nil {
		problem := "is not set"
		if s != "" {
			problem = "is " + quote(s) + ", which it cannot be"
		}
		env.err = fmt.Errorf("%s %s; run as a step of a workflow", name, problem)
	}
	return ""
}

func (env *environment) number(name, unset string) int64 {
	n, _ := strconv.ParseInt(env.match(name, unset, positive), 10, 64)
	return n
}

func (env *environment) url(name, unset string) string {
	return strings.TrimSuffix(env.match(name, unset, address), "/")
}
