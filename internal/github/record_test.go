package github_test

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own object ids
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// pusher is a user or program that may push to the branch of a refresh, by the REST API.
type pusher struct {
	t              *testing.T
	server         *githubtest.Server
	address, token string
}

// send returns the id in the answer.
func (p pusher) send(method, path string, body any) string {
	p.t.Helper()
	data, _ := json.Marshal(body)
	request, _ := http.NewRequest(method, p.address+"/repos/octo/repo"+path, bytes.NewReader(data))
	request.Header.Set("Authorization", "Bearer "+p.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ SHA, Message string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode >= 300 {
		p.t.Fatalf("%s %s: %s: %s, %v", method, path, response.Status, answer.Message, err)
	}
	return answer.SHA
}

// tree writes files over those of a commit. "->x" is a link to x.
func (p pusher) tree(commit string, files map[string]string) string {
	p.t.Helper()
	var entries []map[string]any
	for path, content := range files {
		entry := map[string]any{"path": path, "mode": "100644", "type": "blob", "content": content}
		if to, ok := strings.CutPrefix(content, "->"); ok {
			entry["mode"], entry["content"] = "120000", to
		}
		entries = append(entries, entry)
	}
	return p.send("POST", "/git/trees", map[string]any{"base_tree": p.object(commit).Tree.SHA, "tree": entries})
}

type gitCommit struct {
	Message string
	Tree    struct{ SHA string }
}

func (p pusher) object(commit string) (o gitCommit) {
	p.t.Helper()
	p.get("/git/commits/"+commit, &o)
	return o
}

func (p pusher) get(path string, answer any) {
	p.t.Helper()
	request, _ := http.NewRequest(http.MethodGet, p.address+"/repos/octo/repo"+path, nil)
	request.Header.Set("Authorization", "Bearer "+p.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		p.t.Fatal(err)
	}
}

// commit moves the branch to a new commit. author is what it says of its author.
func (p pusher) commit(tree, message string, author any, parents ...string) {
	p.t.Helper()
	body := map[string]any{"message": message, "tree": tree, "parents": parents}
	if author != nil {
		body["author"] = author
	}
	sha := p.send("POST", "/git/commits", body)
	p.send("PATCH", "/git/refs/heads/"+branch, map[string]any{"sha": sha, "force": true})
}

// digestOf is what a commit of ours records of a file.
func digestOf(path, content string) string {
	blob := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content)) //nolint:gosec // git's own object ids
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%x", path, blob))
	return hex.EncodeToString(sum[:16])
}

// forged is our message, with the digest of another content of our file.
func (p pusher) forged(commit, content string) string {
	p.t.Helper()
	message := p.object(commit).Message
	forged := strings.Replace(message, digestOf(ours, "{\"a\": 2}\n"), digestOf(ours, content), 1)
	if forged == message {
		p.t.Fatalf("the message of our commit holds no digest of its file:\n%s", message)
	}
	return forged
}

const ours, theirs = "baselines/baseline-a.json", "baselines/baseline-b.json"

// describedOthers proposes another file, and returns which commit each other file of the
// branch is said to be of.
func describedOthers(t *testing.T, address, token string) map[string]string {
	t.Helper()
	found := map[string]string{}
	r := refresh()
	r.Files = map[string][]byte{theirs: []byte("b\n")}
	r.Describe = func(others []github.Proposed, complete bool) (string, github.Ladder) {
		found = map[string]string{}
		for _, o := range others {
			found[o.Path] = o.Commit
		}
		if !complete {
			t.Error("the list is not complete")
		}
		return "Refresh", github.Fixed("text")
	}
	proposeAs(t, address, token, r)
	return found
}

func proposeAs(t *testing.T, address, token string, r github.Refresh) {
	t.Helper()
	if _, err := client(t, address, token).OpenRefresh(t.Context(), repo, r); err != nil {
		t.Fatal(err)
	}
}

// TestWhoWroteTheFilesOfARefresh: what others push to the branch is never taken for a file
// of an earlier call. The first case shows that such a file is one.
func TestWhoWroteTheFilesOfARefresh(t *testing.T) {
	bot := map[string]string{"name": actionsBot, "email": "41898282+github-actions[bot]@users.noreply.github.com"}
	slower := map[string]string{ours: "{\"a\": 9}\n"}
	for name, c := range map[string]struct {
		push func(p pusher, first, second string)
		want map[string]string // commits: 1 and 2 are ours
	}{
		"nothing": {func(pusher, string, string) {}, map[string]string{ours: "2"}},
		"another number": {func(p pusher, _, second string) { p.commit(p.tree(second, slower), "tune", nil, second) },
			map[string]string{ours: ""}},
		"a workflow": {func(p pusher, _, second string) {
			p.commit(p.tree(second, map[string]string{".github/workflows/x.yml": "on: push\n"}), "ci", nil, second)
		}, map[string]string{ours: "2", ".github/workflows/x.yml": ""}},
		"a link": {func(p pusher, _, second string) {
			p.commit(p.tree(second, map[string]string{"baselines/baseline-c.json": "->/etc/passwd"}), "link", nil, second)
		}, map[string]string{ours: "2", "baselines/baseline-c.json": ""}},
		"our message over another number": {func(p pusher, _, second string) {
			p.commit(p.tree(second, slower), p.object(second).Message, nil, second)
		}, map[string]string{ours: ""}},
		"our message and name, for a number of theirs": {func(p pusher, _, second string) {
			message := p.forged(second, slower[ours])
			p.commit(p.tree(second, slower), message, bot, second)
		}, map[string]string{ours: ""}},
		"the same by another app": {func(p pusher, _, second string) {
			message := p.forged(second, slower[ours])
			p.token = appToken
			p.commit(p.tree(second, slower), message, nil, second)
		}, map[string]string{ours: ""}},
		"an old commit of ours, merged": {func(p pusher, first, second string) {
			p.commit(p.object(first).Tree.SHA, "merge", nil, first, second)
		}, map[string]string{ours: ""}},
		"an old commit of ours, as it was": {func(p pusher, first, _ string) {
			p.send("PATCH", "/git/refs/heads/"+branch, map[string]any{"sha": first, "force": true})
		}, map[string]string{ours: "1"}},
		"the base, merged": {func(p pusher, _, second string) {
			base := p.server.Commit(fullName, "main", map[string]string{"later.txt": "later\n"})
			p.commit(p.tree(second, map[string]string{"later.txt": "later\n"}), "Merge branch 'main'", nil, second, base)
		}, map[string]string{ours: "2"}},
		"a file of the base, changed": {func(p pusher, _, second string) {
			p.commit(p.tree(second, map[string]string{"baselines/baseline-old.json": "{\"x\": 1}\n"}), "tune", nil, second)
		}, map[string]string{ours: "2", "baselines/baseline-old.json": ""}},
	} {
		for kind, own := range map[string]string{"app": token, "person": userToken} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				seed := state()
				seed.Tokens = append(seed.Tokens, githubtest.Token{Value: "ghp_mallory0123456789", Login: "mallory"})
				s, address := githubtest.New(t, seed)
				proposeAs(t, address, own, refresh())
				first := s.Head(fullName, branch)
				next := refresh()
				next.Files[ours] = []byte("{\"a\": 2}\n")
				proposeAs(t, address, own, next)
				second := s.Head(fullName, branch)
				c.push(pusher{t, s, address, "ghp_mallory0123456789"}, first, second)
				got := describedOthers(t, address, own)
				for path, commit := range got {
					got[path] = strings.NewReplacer(first, "1", second, "2").Replace(commit)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("files of others and of ours (-want +got):\n%s", diff)
				}
				if again := describedOthers(t, address, own); !slices.Equal(slices.Sorted(maps.Keys(again)), slices.Sorted(maps.Keys(got))) {
					t.Errorf("the next call finds %v, want those of %v", again, got)
				}
			})
		}
	}
}

// TestCommitsAreOursWhereGraphQLFailsForAWhile: a job that gets no answer on whose token it
// has asks again, rather than takes the files of all other jobs for files of others.
func TestCommitsAreOursWhereGraphQLFailsForAWhile(t *testing.T) {
	seed := state()
	seed.Faults = []githubtest.Fault{{Operation: "graphql/viewer", Times: 5, Status: 502, Message: "Server Error"}}
	s, address := githubtest.New(t, seed)
	proposeAs(t, address, token, refresh())
	head := s.Head(fullName, branch)
	if got := describedOthers(t, address, token); got[ours] != head {
		t.Errorf("%s is of %q, want %s", ours, got[ours], head)
	}
	if n := count(s, "graphql/viewer"); n < 6 {
		t.Errorf("GraphQL was asked %d times, want all failures before an answer", n)
	}
}

// TestNoWalkWithoutAName: where no commit can be told to be ours, none is read to find one.
func TestNoWalkWithoutAName(t *testing.T) {
	seed := state()
	seed.Faults = everyAnswerOnWhoseTokenItIs["both are 403"]
	s, address := githubtest.New(t, seed)
	commits := func(host int) int {
		before := count(s, "git/get-commit")
		r := refresh()
		r.Files = map[string][]byte{fmt.Sprintf("baselines/baseline-%02d.json", host): []byte("{}\n")}
		proposeAs(t, address, token, r)
		return count(s, "git/get-commit") - before
	}
	second := 0
	for host := range 8 {
		if n := commits(host); host == 1 {
			second = n
		} else if host > 1 && n > second {
			t.Errorf("host %d read %d commits, host 1 %d: they read the whole branch", host, n, second)
		}
	}
}

// TestForgedRecordCounts shows that the forgeries of TestWhoWroteTheFilesOfARefresh fail by who
// makes them: one by the workflow's own token is taken for ours. docs/security.md states that.
func TestForgedRecordCounts(t *testing.T) {
	s, address := githubtest.New(t, state())
	next := refresh()
	next.Files[ours] = []byte("{\"a\": 2}\n")
	proposeAs(t, address, token, next)
	p, head, slower := pusher{t, s, address, token}, s.Head(fullName, branch), "{\"a\": 9}\n"
	p.commit(p.tree(head, map[string]string{ours: slower}), p.forged(head, slower), nil, head)
	if got, forged := describedOthers(t, address, token)[ours], s.Head(fullName, branch); got == "" || got == head {
		t.Errorf("the file is of %q, want the commit before %s", got, forged)
	}
}

// TestLinkOfOthersStaysALink: the branch is brought up to a base that moved on.
func TestLinkOfOthersStaysALink(t *testing.T) {
	s, address := githubtest.New(t, state())
	proposeAs(t, address, token, refresh())
	p := pusher{t, s, address, userToken}
	head := s.Head(fullName, branch)
	p.commit(p.tree(head, map[string]string{"link": "->README.md"}), "link", nil, head)
	s.Commit(fullName, "main", map[string]string{"later.txt": "later\n"})
	if got := describedOthers(t, address, token); got["link"] != "" || got[ours] != head {
		t.Errorf("got %v, want the link of others, and %s of %s", got, ours, head)
	}
	var listed struct{ Tree []struct{ Path, Mode string } }
	p.get("/git/trees/"+s.Head(fullName, branch), &listed)
	i := slices.IndexFunc(listed.Tree, func(e struct{ Path, Mode string }) bool { return e.Path == "link" })
	if i < 0 || listed.Tree[i].Mode != "120000" {
		t.Errorf("the branch holds %v, want a link", listed.Tree)
	}
	wantFile(t, s, "later.txt", "later\n")
}
