package github_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// deviation is something that emulate does otherwise than GitHub. It is made up
// for behind the proxy, which sees GitHub's behaviour. One that no longer
// occurs fails the test.
type deviation struct {
	name string // what emulate does
	why  string // what GitHub does
	at   *regexp.Regexp
	// before answers in place of emulate, or changes what it is asked, and
	// after changes its answer. Both report whether they did.
	before, after func(a *adapter, x *passing) bool
}

// passing is a request on its way to emulate, and the answer on its way back.
type passing struct {
	method, path, query, token string
	asked                      map[string]any
	status                     int // 0 until there is an answer
	answer                     any
	refused                    bool // by the adapter: nothing is asked
}

var pulls = regexp.MustCompile(`/pulls(/\d+)?(/requested_reviewers)?$`)

var deviations = []deviation{
	{name: "a check run is of nobody", why: "app is the app whose token made it",
		at: regexp.MustCompile(`/check-runs(/\d+)?$`), after: (*adapter).nameApp},
	{name: "an organization lacks most of what it has in common with users", why: "the description requires it",
		at: regexp.MustCompile(`/`), after: func(_ *adapter, x *passing) bool { return completeOwners(x.answer) }},
	{name: "output of a check run has no annotations_url", why: "the description requires it",
		at: regexp.MustCompile(`/check-runs(/\d+)?$`), after: func(_ *adapter, x *passing) bool {
			return x.each("check_runs", func(run map[string]any) bool {
				return fill(member(run, "output"), "annotations_url", fmt.Sprint(run["url"], "/annotations"))
			})
		}},
	{name: "a repository has no network_count and subscribers_count", why: "the description requires them",
		at: regexp.MustCompile(`^GET /repos/octo/repo$`), after: func(_ *adapter, x *passing) bool {
			repo, _ := x.answer.(map[string]any)
			return fill(repo, "network_count", 0) && fill(repo, "subscribers_count", 0)
		}},
	{name: "a second pull request of the same branches is made", why: "422 with 'A pull request already exists for octo:branch.'",
		at: regexp.MustCompile(`^POST /repos/octo/repo/pulls$`), before: (*adapter).refuseSecondPull},
	{name: "a label of a pull request has no description", why: "an empty one, says the description",
		at: pulls, after: func(_ *adapter, x *passing) bool {
			return x.inPulls("labels", func(label map[string]any) bool {
				if label["description"] != nil {
					return false
				}
				label["description"] = ""
				return true
			})
		}},
	{name: "a team that was asked for a review has no parent and type", why: "the description requires them",
		at: pulls, after: func(_ *adapter, x *passing) bool {
			return x.inPulls("requested_teams", func(team map[string]any) bool {
				return fill(team, "parent", nil) && fill(team, "type", "organization")
			})
		}},
	{name: "asking for a review answers 200", why: "201",
		at: regexp.MustCompile(`^POST .*/requested_reviewers$`), after: func(_ *adapter, x *passing) bool {
			if x.status != http.StatusOK {
				return false
			}
			x.status = http.StatusCreated
			return true
		}},
	{name: "anybody can be asked for a review", why: "422 unless all are collaborators",
		at: regexp.MustCompile(`^POST .*/requested_reviewers$`), before: (*adapter).refuseStrangers},
	{name: "permissions are push, pull, maintain and triage", why: "write and read, the latter two being role_name only",
		at: regexp.MustCompile(`/permission$`), after: func(_ *adapter, x *passing) bool {
			found, _ := x.answer.(map[string]any)
			legacy := map[string]string{"push": "write", "maintain": "write", "pull": "read", "triage": "read"}
			word, is := legacy[fmt.Sprint(found["permission"])]
			if is {
				found["permission"] = word
			}
			return is
		}},
	{name: "the user of a permission has no role_name", why: "the description requires it",
		at: regexp.MustCompile(`/permission$`), after: func(_ *adapter, x *passing) bool {
			found, _ := x.answer.(map[string]any)
			return fill(member(found, "user"), "role_name", found["role_name"])
		}},
	{name: "logins are told apart by their case", why: "they are not",
		at: regexp.MustCompile(`^GET .*/permission$`), before: func(_ *adapter, x *passing) bool {
			lower := strings.ToLower(x.path)
			did := lower != x.path
			x.path = lower
			return did
		}},
	{name: "html_url of a comment leads to /issues", why: "to /pull where the issue is one",
		at: regexp.MustCompile(`/comments(/\d+)?$`), after: func(_ *adapter, x *passing) bool {
			return x.each("", func(comment map[string]any) bool {
				before, _ := comment["html_url"].(string)
				after := strings.Replace(before, "/octo/repo/issues/", "/octo/repo/pull/", 1)
				comment["html_url"] = after
				return after != before
			})
		}},
	{name: "the refusal says 'Update is not a fast-forward'", why: "'Update is not a fast forward'",
		at: regexp.MustCompile(`^PATCH .*/git/refs/`), after: func(_ *adapter, x *passing) bool {
			said, _ := x.answer.(map[string]any)
			if said["message"] != "Update is not a fast-forward" {
				return false
			}
			said["message"] = "Update is not a fast forward"
			return true
		}},
}

// exclusion is a deviation that cannot be made up for.
type exclusion struct {
	reason    string
	scenarios []string
	// still shows emulate deviating.
	still func(t *testing.T, e *emulator) bool
}

var exclusions = []exclusion{
	{"an update of a check run replaces its annotations, where GitHub adds to them, and they are listed in an object, where GitHub lists them in an array",
		[]string{"annotations go in chunks", "annotations out of date need a new run", "check is begun then completed"}, annotationsAreReplaced},
	{"the pull requests with a commit cannot be asked for, and a fork's head cannot be chosen", []string{"pulls of a head"}, pullsOfCommitAreMissing},
	{"it knows no GraphQL, which says whose a token is, and no runs of workflows, without which no comment is of a newer run",
		[]string{"older runs do not overwrite", "sections follow their own runs", "duplicates converge on the newest", "worse state is posted anew", "whose token it is"}, graphQLIsMissing},
}

func annotationsAreReplaced(t *testing.T, e *emulator) bool {
	s := e.begin(t, state())
	sha := s.Head(fullName, "work")
	output := map[string]any{"title": "t", "summary": "s", "annotations": []any{map[string]any{
		"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}}}
	var run struct{ ID int64 }
	s.do("POST", "/repos/octo/repo/check-runs", ownerToken, map[string]any{"name": "a", "head_sha": sha, "output": output}, &run)
	path := fmt.Sprintf("/repos/octo/repo/check-runs/%d", run.ID)
	s.do("PATCH", path, ownerToken, map[string]any{"output": output}, nil)
	var all struct {
		Total int `json:"total_count"`
	}
	return s.ask("GET", path+"/annotations", ownerToken, nil, &all) == nil && all.Total == 1
}

func graphQLIsMissing(t *testing.T, e *emulator) bool {
	s := e.begin(t, state())
	return s.ask("POST", "/graphql", ownerToken, map[string]any{"query": "query{viewer{login}}"}, nil) != nil
}

func pullsOfCommitAreMissing(t *testing.T, e *emulator) bool {
	s := e.begin(t, state())
	err := s.ask("GET", "/repos/octo/repo/commits/"+s.Head(fullName, "work")+"/pulls", ownerToken, nil, nil)
	return err != nil
}

// adapter makes up for the deviations. It is safe for concurrent use: requests
// are passed on one after the other.
type adapter struct {
	upstream string

	mu      sync.Mutex
	applied map[string]int     // by name of the deviation
	apps    map[float64]string // token by id of the check run that was made with it
}

func (a *adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	x := &passing{method: r.Method, path: r.URL.EscapedPath(), query: r.URL.RawQuery, token: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	_ = json.Unmarshal(body, &x.asked) // the proxy has checked it
	a.mu.Lock()
	defer a.mu.Unlock()
	a.apply(x, func(d deviation) func(*adapter, *passing) bool { return d.before })
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	if !x.refused {
		if header, err = a.forward(r, x, body); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		a.apply(x, func(d deviation) func(*adapter, *passing) bool { return d.after })
	}
	maps.Copy(w.Header(), header)
	w.WriteHeader(x.status)
	if x.answer != nil {
		_ = json.NewEncoder(w).Encode(x.answer) // the client may be gone
	}
}

func (a *adapter) apply(x *passing, part func(deviation) func(*adapter, *passing) bool) {
	line := x.method + " " + x.path
	for _, d := range deviations {
		if act := part(d); act != nil && d.at.MatchString(line) && !x.refused && act(a, x) {
			a.applied[d.name]++
		}
	}
}

func (a *adapter) forward(r *http.Request, x *passing, body []byte) (http.Header, error) {
	status, header, answer, err := a.send(r.Method, x.path+"?"+x.query, r.Header, body)
	if err != nil {
		return nil, err
	}
	x.status = status
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &x.answer); err != nil {
			return nil, fmt.Errorf("emulate answers with no JSON: %w", err)
		}
	}
	kept := http.Header{}
	for _, name := range []string{"Content-Type", "Link"} {
		if value := header.Get(name); value != "" {
			kept.Set(name, value)
		}
	}
	return kept, nil
}

func (a *adapter) send(method, path string, header http.Header, body []byte) (int, http.Header, []byte, error) {
	request, err := http.NewRequest(method, a.upstream+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	request.Header = header.Clone()
	request.Header.Del("Accept-Encoding")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, data, err
}

// list returns what emulate lists at a path.
func (a *adapter) list(path string) (all []map[string]any) {
	_, _, data, err := a.send(http.MethodGet, path, http.Header{"Authorization": {"Bearer " + ownerToken}}, nil)
	if err == nil {
		_ = json.Unmarshal(data, &all) // what is no list is empty
	}
	return all
}

// nameApp returns by whose token a check run was made.
func (a *adapter) nameApp(x *passing) bool {
	if run, _ := x.answer.(map[string]any); x.method == http.MethodPost && x.status == http.StatusCreated {
		a.apps[run["id"].(float64)] = x.token
	}
	return x.each("check_runs", func(run map[string]any) bool {
		if run["app"] != nil {
			return false
		}
		id, _ := run["id"].(float64)
		slug := "github-actions"
		if a.apps[id] == appToken {
			slug = "other-app"
		}
		run["app"] = map[string]any{"id": 1, "slug": slug, "node_id": "", "name": slug, "description": nil, "external_url": "https://example.com",
			"html_url": "https://example.com", "created_at": "2025-01-01T00:00:00Z", "updated_at": "2025-01-01T00:00:00Z",
			"permissions": map[string]string{}, "events": []string{}, "owner": account("github")}
		return true
	})
}

func (a *adapter) refuseSecondPull(x *passing) bool {
	head := fmt.Sprint(x.asked["head"])
	for _, pull := range a.list("/repos/octo/repo/pulls?state=open&per_page=100") {
		if member(pull, "head")["ref"] == head && member(pull, "base")["ref"] == x.asked["base"] {
			x.refuse("Validation Failed", map[string]any{"resource": "PullRequest", "code": "custom",
				"message": "A pull request already exists for octo:" + head + "."})
			return true
		}
	}
	return false
}

func (a *adapter) refuseStrangers(x *passing) bool {
	var known []string
	for _, person := range a.list("/repos/octo/repo/collaborators?per_page=100") {
		known = append(known, fmt.Sprint(person["login"]))
	}
	reviewers, _ := x.asked["reviewers"].([]any)
	if !slices.ContainsFunc(reviewers, func(login any) bool { return !slices.Contains(known, fmt.Sprint(login)) }) {
		return false
	}
	x.refuse("Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the octo/repo repository.")
	return true
}

// refuse answers with 422 in place of emulate.
func (x *passing) refuse(message string, problems ...any) {
	x.refused, x.status = true, http.StatusUnprocessableEntity
	answer := map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest"}
	if len(problems) > 0 {
		answer["errors"] = problems
	}
	x.answer = answer
}

// each calls change for the object that was answered, or for each of a list,
// which may be a member of the object.
func (x *passing) each(list string, change func(map[string]any) bool) (did bool) {
	if x.status >= http.StatusBadRequest {
		return false
	}
	answer := x.answer
	if object, ok := answer.(map[string]any); ok {
		all, listed := object[list].([]any)
		if !listed {
			return change(object)
		}
		answer = all
	}
	all, _ := answer.([]any)
	for _, one := range all {
		if object, ok := one.(map[string]any); ok && change(object) {
			did = true
		}
	}
	return did
}

// inPulls calls change for each of a list in each pull request.
func (x *passing) inPulls(list string, change func(map[string]any) bool) bool {
	return x.each("", func(pull map[string]any) (did bool) {
		all, _ := pull[list].([]any)
		for _, one := range all {
			if object, ok := one.(map[string]any); ok && change(object) {
				did = true
			}
		}
		return did
	})
}

// account is what people and organizations have in common.
func account(login string) map[string]any {
	address := "https://example.com/users/" + login
	all := map[string]any{"login": login, "id": 1, "node_id": "", "avatar_url": address, "gravatar_id": "", "type": "Organization", "site_admin": false}
	for _, name := range strings.Fields("url html_url followers_url following_url gists_url starred_url subscriptions_url organizations_url repos_url events_url received_events_url") {
		all[name] = address
	}
	return all
}

// completeOwners fills up every organization in an answer.
func completeOwners(value any) (did bool) {
	switch value := value.(type) {
	case []any:
		for _, inner := range value {
			did = completeOwners(inner) || did
		}
	case map[string]any:
		if value["type"] == "Organization" {
			for name, common := range account(fmt.Sprint(value["login"])) {
				did = fill(value, name, common) || did
			}
		}
		for _, inner := range value {
			did = completeOwners(inner) || did
		}
	}
	return did
}

func member(object map[string]any, name string) map[string]any {
	inner, _ := object[name].(map[string]any)
	return inner
}

// fill sets what is missing.
func fill(object map[string]any, name string, value any) bool {
	if _, there := object[name]; there || object == nil {
		return false
	}
	object[name] = value
	return true
}
