package artifact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/cli"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

const (
	actionToken = "ghs_0123456789abcdefTOKEN"
	baseCommit  = "1111111111111111111111111111111111111111"
	actionRepo  = "octo/repo"
)

// headCommit is the one that document says it measured.
var headCommit = strings.Repeat("a", 40)

// posted is everything that one step left.
type posted struct {
	code                             int
	stdout, stderr, summary, outputs string
	comments                         []githubtest.Comment
	checks                           []githubtest.CheckRun
	files                            []string // in the checkout, that were not there before
}

// post runs the action on the workflow_run event of a fork whose workflow left
// these archives, in the checkout of the base branch.
func post(t *testing.T, archives ...[]byte) posted {
	t.Helper()
	return postTo(t, 0, deskBaseline, archives...)
}

// postTo is post to a GitHub that takes texts of so many characters, 0 for as
// many as the real one.
func postTo(t *testing.T, maxBody int, baseline string, archives ...[]byte) posted {
	t.Helper()
	work, temp, out := t.TempDir(), t.TempDir(), t.TempDir()
	config := filepath.Join(work, "accelgate.yaml")
	write(t, config, `{version: 1, suites: [{name: s, kind: models, command: [true], models: [m], backends: [c], features: [f], `+
		`metrics: [{name: tps, json: tps, unit: tok/s, better: higher}]}]}`)
	write(t, filepath.Join(work, "baselines", "baseline-desk.json"), baseline)
	event := filepath.Join(out, "event.json")
	write(t, event, fmt.Sprintf(`{"action": "completed", "repository": {"full_name": %q, "default_branch": "main"}, "workflow_run": {"id": 500,
		"run_attempt": 1, "event": "pull_request", "head_sha": %q, "head_branch": "patch", "head_repository": {"full_name": "mallory/repo"}}}`, actionRepo, headCommit))
	run := githubtest.RunSeed{ID: 500, HeadRepo: "mallory/repo", HeadBranch: "patch", HeadSHA: headCommit, Conclusion: "success"}
	for i, data := range archives {
		run.Artifacts = append(run.Artifacts, githubtest.ArtifactSeed{Name: fmt.Sprintf("accelgate-run-%d", i), Data: data})
	}
	server, address := githubtest.New(t, githubtest.State{
		Repos: []githubtest.Repo{{Name: actionRepo, Files: map[string]string{"a": "a"}, Runs: []githubtest.RunSeed{run}, Commits: []string{headCommit}, MaxBody: maxBody,
			PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "patch", Author: "mallory", Fork: "mallory/repo", HeadSHA: headCommit}}}},
		Tokens: []githubtest.Token{{Value: actionToken, Login: "github-actions[bot]", Integration: true,
			Permissions: map[string]string{"actions": "read", "contents": "read", "pull-requests": "write", "checks": "write"}}},
	})
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_API_URL": address, "GITHUB_REPOSITORY": actionRepo, "GITHUB_RUN_ID": "600", "GITHUB_SHA": baseCommit,
		"GITHUB_WORKSPACE": work, "GITHUB_OUTPUT": filepath.Join(out, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(out, "summary"),
		"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": event, "RUNNER_TEMP": temp,
		"INPUT_GITHUB-TOKEN": actionToken, "INPUT_MODE": "post", "INPUT_CONFIG": config,
	}
	before := tree(t, work)
	var p posted
	var stdout, stderr bytes.Buffer
	slept := time.Duration(0) // by the one goroutine that the command has
	c := cli.Command{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return env[name] },
		Now:   func() time.Time { return time.Now().Add(slept) },
		Sleep: func(ctx context.Context, d time.Duration) error { slept += d; return ctx.Err() }}
	p.code = c.Main(t.Context(), []string{"action"})
	p.stdout, p.stderr, p.summary, p.outputs = stdout.String(), stderr.String(), content(t, out, "summary"), content(t, out, "output")
	p.comments, p.checks = server.Comments(actionRepo, 1), server.CheckRuns(actionRepo, headCommit)
	p.checks = slices.DeleteFunc(p.checks, func(k githubtest.CheckRun) bool { return k.Name == "accelgate" && k.Conclusion == "action_required" })
	if n := len(server.CheckRuns(actionRepo, headCommit)); n != len(p.checks)+1 {
		t.Errorf("%d of %d checks are not the required one that waits for a maintainer", len(p.checks), n)
	}
	after := tree(t, work)
	for name := range after {
		if before[name] != after[name] {
			p.files = append(p.files, name)
		}
	}
	if left := tree(t, temp); len(left) > 0 {
		t.Errorf("RUNNER_TEMP still holds %v", left)
	}
	return p
}

// deskBaseline is what reference says, as the base branch has it.
const deskBaseline = `{"schema": 1, "host_label": "desk", "fingerprint": {"cpu": "c", "cores": 2}, "entries": [{"case_id": "a", "ok": true,
	"metrics": {"tps": {"median": 100, "mad": 1, "n": 3, "better": "higher", "unit": "tok/s"}}}]}`

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// tree is what is below a folder, links not followed, with its contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		found[rel] = fmt.Sprint(d.Type(), string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestHostileArchivesThroughTheAction: whoever uploads one gets a refusal on the
// pull request that GitHub names, and leaves nothing else anywhere.
func TestHostileArchivesThroughTheAction(t *testing.T) {
	t.Parallel()
	for _, c := range hostile {
		if slices.Contains([]string{"a large archive", "many entries", "a large file", "large files together"}, c.name) {
			continue // for limits that are smaller than the action's
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			post(t, c.build()).refused(t, c.want)
		})
	}
}

// TestHostileRunsThroughTheAction: archives that are accepted hold runs that are
// refused, or judged as the base branch's configuration and baseline have it.
func TestHostileRunsThroughTheAction(t *testing.T) {
	t.Parallel()
	for _, c := range hostileRuns {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := post(t, archive(item{name: "desk/run.json", data: string(c.json(t)), stored: true}))
			if c.refused != "" || c.name == "another commit" || c.name == "a label that leads out of the folder" {
				p.refused(t, c.refused)
				return
			}
			p.judged(t, c.status)
		})
	}
}

// TestForgedRunsTogether: what several archives say does not add up to a pass.
func TestForgedRunsTogether(t *testing.T) {
	t.Parallel()
	slow, fast := document(), document()
	fast["results"] = []any{result("a", 100)}
	doc := func(d object) []byte {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return archive(item{name: "run.json", data: string(text)})
	}
	post(t, doc(fast)).judged(t, gate.StatusPassed) // control: alone, it passes
	post(t, doc(slow), doc(fast)).refused(t, "the 2 runs of host desk do not make one")
	post(t, doc(fast), hostile[0].build()).refused(t, "not a zip archive")
	post(t).refused(t, "holds no run.json")
}

// TestTenThousandRowsAtEveryStep: GitHub takes less and less, and still gets a
// comment and a check that say how it ended, and what was left out.
func TestTenThousandRowsAtEveryStep(t *testing.T) {
	t.Parallel()
	const rows = 10_000
	d := document()
	var results []any
	var entries []string
	for i := range rows {
		id := fmt.Sprintf("model-%d__cpu__feature-%d__baseline", i%7, i)
		results = append(results, result(id, 50))
		entries = append(entries, fmt.Sprintf(`{"case_id": %q, "ok": true, "metrics": {"tps": {"median": 100, "mad": 1, "n": 3, "better": "higher", "unit": "tok/s"}}}`, id))
	}
	d["results"] = results
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	data := archive(item{name: "run.json", data: string(text)})
	baseline := strings.Replace(deskBaseline, deskBaseline[strings.Index(deskBaseline, "{\"case_id\""):], strings.Join(entries, ",\n")+"]}", 1)
	for _, maximum := range []int{65_536, 50_000, 30_000, 15_000, 10_000, 4_000, 1_000} {
		t.Run(fmt.Sprint(maximum), func(t *testing.T) { // in turn, as each has to say less than the one before
			p := postTo(t, maximum, baseline, data)
			p.judged(t, gate.StatusFailed)
			body := p.comments[0].Body
			for what, text := range map[string]string{"comment": body, "check": p.checks[0].Summary} {
				if !strings.Contains(text, "10000 of 10000 cells are slower") || utf8.RuneCountInString(text) > maximum {
					t.Errorf("the %s of %d characters says nothing of 10,000 slower cells in %d:\n%.600s", what, utf8.RuneCountInString(text), maximum, text)
				}
			}
			if !strings.Contains(p.summary, "10000 of 10000 cells are slower") || len(p.summary) > 1<<20 {
				t.Errorf("the summary has %d bytes", len(p.summary))
			}
		})
	}
}

// TestTooManyArtifacts: nobody fills a runner's disk.
func TestTooManyArtifacts(t *testing.T) {
	t.Parallel()
	one, many := runOnly(run), make([][]byte, 257)
	for i := range many {
		many[i] = one
	}
	p := post(t, many...)
	p.refused(t, "left more than 256 artifacts")
}

func (p posted) refused(t *testing.T, why string) {
	t.Helper()
	if !strings.Contains(p.stderr, why) {
		t.Errorf("refused for another reason than %q: %s", why, p.stderr)
	}
	if p.code != exit.NoMeasure {
		t.Errorf("exit code %d, want %d:\n%s", p.code, exit.NoMeasure, p.stderr)
	}
	if len(p.files) > 0 {
		t.Errorf("the checkout holds %q, which a refused archive left", p.files)
	}
	if p.summary != "" {
		t.Errorf("the summary says\n%s", p.summary)
	}
	p.harmless(t, "no_evidence", "failure")
	if body := p.comments[0].Body; !strings.Contains(body, "accelgate could not judge") || strings.Contains(body, "Passed") || len(body) > 2500 {
		t.Errorf("the comment is not a short refusal:\n%s", body)
	}
}

func (p posted) judged(t *testing.T, status gate.Status) {
	t.Helper()
	outcome := gate.Outcomes[status]
	if p.code != outcome.Strict {
		t.Errorf("exit code %d of a run that is %s:\n%s", p.code, status, p.stderr)
	}
	slices.Sort(p.files)
	beside := func(path string) bool { return filepath.Dir(path) == filepath.Join(".accelgate", "report-cells") } // what the page loads
	if files := slices.DeleteFunc(slices.Clone(p.files), beside); !slices.Equal(files, []string{filepath.Join(".accelgate", "report.html"), filepath.Join(".accelgate", "report.json"), filepath.Join(".accelgate", "report.md")}) {
		t.Errorf("the checkout holds %q, want the report alone", p.files)
	}
	p.harmless(t, string(status), outcome.Conclusion)
}

var (
	// commands are what the action itself tells the runner.
	commands = regexp.MustCompile(`^::(stop-commands::[A-Z2-7]{26}|[A-Z2-7]{26}::|error( title=[^:]*)?::.*|(warning|notice)( title=[^:]*)?::.*)$`)
	outputs  = regexp.MustCompile(`(?s)(report|html|html-cells|config-changed|json|counts|verdict|check-url|comment-url)<<(accelgate_[A-Z2-7]{26})\n([^\n]*)\n(accelgate_[A-Z2-7]{26})\n`)
	indented = regexp.MustCompile(`(?m)^    .*$`)
)

// harmless holds one comment, one check and all that is printed against what
// people, terminals, Markdown and the runner would make of it.
func (p posted) harmless(t *testing.T, verdict, conclusion string) {
	t.Helper()
	if len(p.comments) != 1 || len(p.checks) != 1 {
		t.Fatalf("%d comments and %d checks, want one of each\n%s", len(p.comments), len(p.checks), p.stderr)
	}
	check := p.checks[0]
	if check.Status != "completed" || check.Conclusion != conclusion {
		t.Errorf("the check is %s with %q, want it completed with %q", check.Status, check.Conclusion, conclusion)
	}
	for what, text := range map[string]string{"comment": p.comments[0].Body, "summary": p.summary, "check": check.Summary} {
		if strings.Contains(text, "accelgate could not judge") {
			text = indented.ReplaceAllString(text, "")
		}
		if got := obeyed.FindString(code.ReplaceAllString(text, "")); got != "" {
			t.Errorf("the %s holds %q:\n%s", what, got, text)
		}
	}
	everything := p.comments[0].Body + p.summary + check.Title + "\n" + check.Summary + check.Text + p.stdout + p.stderr
	for _, a := range check.Annotations {
		if a.Path != "accelgate.yaml" || strings.Contains(a.Title+a.Message, "\n") {
			t.Errorf("annotation %+v is elsewhere, or of several lines", a)
		}
		everything += a.Title + "\n" + a.Message + "\n"
	}
	for line := range strings.Lines(everything) {
		line = strings.TrimSuffix(line, "\n")
		command := strings.HasPrefix(strings.TrimSpace(line), "::") && !commands.MatchString(line)
		if command || strings.Contains(line, "##[") || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("the line %q is obeyed by a terminal or a runner", line)
		}
	}
	if strings.Contains(everything+p.outputs, actionToken) {
		t.Error("the token was written")
	}
	if rest := outputs.ReplaceAllString(p.outputs, ""); rest != "" || !strings.Contains(p.outputs, "\n"+verdict+"\n") {
		t.Errorf("the outputs are\n%swant the verdict %s, and nothing but outputs", p.outputs, verdict)
	}
}
