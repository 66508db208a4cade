package actions_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/github/actions"
	"github.com/google/go-cmp/cmp"
)

const (
	headSHA  = "2222222222222222222222222222222222222222"
	baseSHA  = "3333333333333333333333333333333333333333"
	mergeSHA = "4444444444444444444444444444444444444444"
)

// environ is what the runner sets for every step.
func environ(event string, changes ...string) map[string]string {
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": event, "GITHUB_REPOSITORY": "octo/engine", "GITHUB_SHA": mergeSHA,
		"GITHUB_REF": "refs/heads/main", "GITHUB_RUN_ID": "9876543210", "GITHUB_RUN_ATTEMPT": "2",
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": "https://api.github.com",
	}
	for i := 0; i < len(changes); i += 2 {
		env[changes[i]] = changes[i+1]
	}
	return env
}

func TestEvent(t *testing.T) {
	common := actions.Event{
		Owner: "octo", Repo: "engine", DefaultBranch: "main", SHA: mergeSHA, Ref: "refs/heads/main",
		RunID: 9876543210, RunAttempt: 2, RunURL: "https://github.com/octo/engine/actions/runs/9876543210/attempts/2",
		ServerURL: "https://github.com", APIURL: "https://api.github.com",
	}
	pull := actions.PullRequest{
		Number: 7, HeadSHA: headSHA, HeadRef: "faster-attention", HeadRepo: "octo/engine", BaseSHA: baseSHA, BaseRef: "main",
	}
	tests := map[string]struct {
		event  string
		change func(*actions.Event)
	}{
		"pull_request": {"pull_request", func(e *actions.Event) { e.PullRequest = &pull }},
		"fork": {"pull_request_target", func(e *actions.Event) {
			pr := pull
			pr.HeadRef, pr.HeadRepo, pr.Fork = "main", "mallory/engine", true
			e.PullRequest = &pr
		}},
		"deleted_fork": {"pull_request", func(e *actions.Event) {
			pr := pull
			pr.HeadRepo, pr.Fork = "", true
			e.PullRequest = &pr
		}},
		"workflow_dispatch": {"workflow_dispatch", func(e *actions.Event) {
			e.Inputs = map[string]string{"update_baseline": "true", "reason": `new driver: 570 "production"`, "retries": "3", "text": "true"}
		}},
		"workflow_dispatch_without_inputs": {"workflow_dispatch", func(*actions.Event) {}},
		"push":                             {"push", func(*actions.Event) {}},
		"issue_comment": {"issue_comment", func(e *actions.Event) {
			e.Comment = &actions.Comment{ID: 4711, Author: "alice", Body: "/accelgate rerun\nplease", Issue: 7, New: true, OnPullRequest: true}
		}},
		"issue_comment_on_issue": {"issue_comment", func(e *actions.Event) {
			e.Comment = &actions.Comment{ID: 4712, Author: "dependabot[bot]", Body: "hello", Issue: 8, New: true, Bot: true}
		}},
		"workflow_run": {"workflow_run", func(e *actions.Event) {
			e.Run = &actions.Run{ID: 555, Attempt: 2, Event: "pull_request", HeadSHA: headSHA, HeadBranch: "faster-attention", HeadRepo: "mallory/engine"}
		}},
		"workflow_run_deleted_fork": {"workflow_run", func(e *actions.Event) {
			e.Run = &actions.Run{ID: 556, Attempt: 1, Event: "push", HeadSHA: headSHA}
		}},
		"schedule": {"schedule", func(e *actions.Event) { e.DefaultBranch = "" }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := common
			want.Name = tt.event
			tt.change(&want)
			a := newAction(&bytes.Buffer{}, environ(tt.event, "GITHUB_EVENT_PATH", filepath.Join("testdata", "events", name+".json")))
			got, err := a.Event()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

func TestEventOnOtherServers(t *testing.T) {
	env := environ("schedule", "GITHUB_SERVER_URL", "http://127.0.0.1:8080/", "GITHUB_API_URL", "https://ghe.example.com/api/v3", "GITHUB_RUN_ATTEMPT", "", "GITHUB_REF", "")
	got, err := actions.ParseEvent([]byte("\ufeff{}"), func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if got.RunURL != "http://127.0.0.1:8080/octo/engine/actions/runs/9876543210/attempts/1" || got.APIURL != "https://ghe.example.com/api/v3" || got.Repository() != "octo/engine" {
		t.Errorf("got %+v", got)
	}
}

func TestEventRefusesEnvironment(t *testing.T) {
	for name, values := range map[string][]string{
		"GITHUB_EVENT_NAME":  {"", "Pull Request", "a\nb", strings.Repeat("a", 65)},
		"GITHUB_REPOSITORY":  {"", "octo", "octo/", "/engine", "octo/../x", "octo/..", "o c/x", "octo/a\nb", strings.Repeat("o", 40) + "/x", "o/" + strings.Repeat("x", 101)},
		"GITHUB_SHA":         {"", "main", headSHA[1:], strings.Repeat("A", 40), strings.Repeat("2", 41)},
		"GITHUB_RUN_ID":      {"", "0", "-1", "x", "99999999999999999999"},
		"GITHUB_RUN_ATTEMPT": {"0", "x"},
		"GITHUB_SERVER_URL":  {"github.com", "ftp://github.com", "https://", "https://user:secret@github.com", "https://github.com?x", "https://github.com/ a", "javascript:alert(1)"},
		"GITHUB_API_URL":     {"/api", "https://api.github.com#x"},
		"GITHUB_REF":         {"a b", "a..b", "-x", "refs/heads/\x1b", "a//b", "a@{1}", "a\\b", strings.Repeat("a", 1025)},
	} {
		for _, value := range values {
			env := environ("push", name, value)
			_, err := actions.ParseEvent([]byte("{}"), func(name string) string { return env[name] })
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "; ") {
				t.Errorf("%s=%.50q: got %v, want an error that names it and a next step", name, value, err)
			}
		}
	}
}

func TestEventRefusesPayload(t *testing.T) {
	pull, err := os.ReadFile("testdata/events/pull_request.json")
	if err != nil {
		t.Fatal(err)
	}
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(string(pull)) }
	for want, payload := range map[string]string{
		"not an event":                      "",
		"event file is not an event":        "[]",
		"larger than":                       strings.Repeat(" ", 25<<20+1),
		"exceeded max depth":                strings.Repeat(`{"a":`, 20_000),
		"pull_request is missing":           "{}",
		"pull_request.number is 0":          edit(`"number": 7`, `"number": 0`),
		"pull_request.number is -1":         edit(`"number": 7`, `"number": -1`),
		"number of type int":                edit(`"number": 7`, `"number": "7"`),
		"pull_request.head.sha is":          edit(headSHA, "HEAD"),
		"pull_request.base.sha is":          edit(baseSHA, baseSHA+"0"),
		`pull_request.head.ref is "a\n::b"`: edit(`"ref": "faster-attention"`, `"ref": "a\n::b"`),
		`pull_request.base.ref is ""`:       edit(`"ref": "main"`, `"ref": ""`),
		"head.repo.full_name is":            edit(`"full_name": "octo/engine", "fork"`, `"full_name": "octo", "fork"`),
		"repository.full_name is":           edit(`"full_name": "octo/engine", "private"`, `"full_name": "octo/other", "private"`),
		"repository.default_branch is":      edit(`"id": 1}, "default_branch": "main"`, `"id": 1}, "default_branch": "a b"`),
		`input "x" is neither`:              edit(`"number": 7`, `"inputs": {"x": {}}, "number": 7`),
		"101 inputs":                        edit(`"action"`, `"inputs": {`+manyInputs(101)+`}, "action"`),
	} {
		env := environ("pull_request")
		_, err := actions.ParseEvent([]byte(payload), func(name string) string { return env[name] })
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "; ") {
			t.Errorf("got %v, want %q and a next step", err, want)
		}
	}
}

func manyInputs(n int) string {
	var list []string
	for i := range n {
		list = append(list, `"i`+strings.Repeat("x", i)+`": 1`)
	}
	return strings.Join(list, ",")
}

func TestEventFileIsMissing(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "none.json"), t.TempDir()} {
		_, err := newAction(&bytes.Buffer{}, environ("push", "GITHUB_EVENT_PATH", path)).Event()
		if err == nil || !strings.Contains(err.Error(), "GITHUB_EVENT_PATH") || !strings.Contains(err.Error(), "; ") {
			t.Errorf("%q: got %v, want an error naming the variable and a next step", path, err)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	files, _ := filepath.Glob("testdata/events/*.json")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "pull_request", "octo/engine", "refs/heads/main")
		f.Add(data, "workflow_dispatch", "octo/engine", "")
	}
	f.Fuzz(func(t *testing.T, payload []byte, name, repository, ref string) {
		env := environ(name, "GITHUB_REPOSITORY", repository, "GITHUB_REF", ref)
		before := maps.Clone(env)
		e, err := actions.ParseEvent(payload, func(name string) string { return env[name] })
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
				t.Errorf("error holds control characters: %q", err)
			}
			return
		}
		for _, s := range []string{e.Name, e.Owner, e.Repo, e.DefaultBranch, e.Ref, e.RunURL} {
			if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' }) {
				t.Errorf("got blank or control characters in %q", s)
			}
		}
		if p := e.PullRequest; p != nil {
			if p.Number <= 0 || len(p.HeadSHA) < 40 || len(p.BaseSHA) < 40 || p.HeadRef == "" || p.BaseRef == "" {
				t.Errorf("got %+v", p)
			}
			if !p.Fork && !strings.EqualFold(p.HeadRepo, repository) {
				t.Errorf("head %q of %q is not called a fork", p.HeadRepo, repository)
			}
		}
		if diff := cmp.Diff(env, before); diff != "" {
			t.Errorf("environment changed: %s", diff)
		}
	})
}
