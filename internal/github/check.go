package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Limits of check runs: https://docs.github.com/rest/checks/runs
const (
	// MaxCheckText is how long a check run's summary and its text may each be,
	// in characters.
	MaxCheckText = 65535

	maxAnnotations       = 50       // in one request
	maxAnnotationTitle   = 255      // characters; the client cuts by bytes
	maxAnnotationMessage = 64 << 10 // bytes
)

const checkPermission = "checks: write"

// ErrCheckStays marks the errors that leave a check run of ours as it was, perhaps in
// progress. Test for it with errors.Is.
var ErrCheckStays = errors.New("the check run stays as it was")

// Check is what a check run says.
type Check struct {
	Name string
	// Conclusion is success, failure, neutral, action_required, cancelled,
	// skipped or timed_out.
	Conclusion string
	Title      string // one line
	Summary    string // Markdown, at most MaxCheckText; required without Body
	Text       string // Markdown, at most MaxCheckText
	// Body, where it is set, gives the summary in as few bytes as needed.
	Body Ladder
	// Seq is the run that says it. Nothing of a newer run is replaced. Zero
	// means that it is not known, and replaces everything.
	Seq        Seq
	DetailsURL string
	// Annotations may be any number. Titles and messages are cut to what
	// GitHub takes.
	Annotations []Annotation
}

// Annotation is a remark on lines of a file.
type Annotation struct {
	Path    string // in the repository
	Line    int    // counts from 1
	EndLine int    // Line where it is zero
	Level   string // notice, warning or failure
	Title   string
	Message string
}

// CheckRun is a check run on GitHub.
type CheckRun struct {
	ID     int64
	URL    string // for people
	Change Change // Created or Updated
}

// Checked is a check run that is there.
type Checked struct {
	ID         int64 // 0 where there is none
	Seq        Seq
	Conclusion string // "" while it is in progress
	Title      string
}

// FindCheck returns the check run of a name that was made here, of several the
// newest.
func (c *Client) FindCheck(ctx context.Context, repo Repo, headSHA, name string) (Checked, error) {
	doing := fmt.Sprintf("read check run %q on %s@%s", name, repo, text.Cut(headSHA, 80))
	if err := errors.Join(repo.check(), checkCommit(headSHA)); err != nil {
		return Checked{}, fmt.Errorf("%s: %w", doing, err)
	}
	runs, err := c.ownChecks(ctx, repo, headSHA, name)
	if err != nil {
		return Checked{}, explain(doing, "checks: read", err)
	}
	if len(runs) == 0 {
		return Checked{}, nil
	}
	return Checked{ID: runs[0].GetID(), Seq: checkSeq(runs[0]), Conclusion: runs[0].GetConclusion(),
		Title: runs[0].GetOutput().GetTitle()}, nil
}

// commitID matches the full id of a commit. Anything else could lead to
// another address of the API.
var commitID = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// UpsertCheck makes check the completed check run of its name on a commit: it
// updates the one it made before, or creates one. GitHub only ever adds
// annotations, so where an earlier run has some that check has not, a new run
// takes its place. Runs of that name that were left unfinished are completed
// too. Where a newer run has reported, Change is Outdated.
func (c *Client) UpsertCheck(ctx context.Context, repo Repo, headSHA string, check Check) (CheckRun, error) {
	p := checking{client: c, repo: repo, sha: headSHA, check: check}
	p.doing = fmt.Sprintf("publish check run %q on %s@%s", check.Name, repo, headSHA)
	if err := errors.Join(repo.check(), check.check(), checkCommit(headSHA)); err != nil {
		return CheckRun{}, fmt.Errorf("%s: %w", p.doing, err)
	}
	return p.run(lastly(mayRefuse(ctx)))
}

// checking brings the check runs of one name to say what a Check says.
type checking struct {
	client *Client
	repo   Repo
	sha    string
	check  Check
	open   bool  // the check is to be in progress
	id     int64 // of the run that was begun, or 0
	there  bool  // a check run of ours may be there
	doing  string
	limit  int // index into limits
	change Change
}

// run looks and writes until nothing is missing, and looks again after each
// failure: what failed may have been done.
func (p *checking) run(ctx context.Context) (CheckRun, error) {
	run, err := persist(ctx, p.client, func() (*gh.CheckRun, error) {
		for {
			run, err := p.step(ctx)
			if !tooLong(err) || p.limit == len(limits)-1 || p.check.Body == nil {
				return run, err
			}
			p.limit++
		}
	})
	switch {
	case err != nil && p.there:
		return CheckRun{}, fmt.Errorf("%w; %w", explain(p.doing, checkPermission, err), ErrCheckStays)
	case err != nil:
		return CheckRun{}, explain(p.doing, checkPermission, err)
	}
	return CheckRun{ID: run.GetID(), URL: run.GetHTMLURL(), Change: p.change}, nil
}

func (p *checking) step(ctx context.Context) (*gh.CheckRun, error) {
	runs, err := p.client.ownChecks(ctx, p.repo, p.sha, p.check.Name)
	if err != nil {
		return nil, err
	}
	p.there = p.there || len(runs) > 0
	if len(runs) > 0 && p.check.Seq.known() && checkSeq(runs[0]).compare(p.check.Seq) > 0 {
		p.change = Outdated
		return runs[0], p.finishOthers(ctx, runs[1:])
	}
	run, pending, err := p.reusable(ctx, runs)
	if err != nil {
		return nil, err
	}
	chunks := slices.Collect(slices.Chunk(pending, maxAnnotations))
	if len(chunks) == 0 {
		chunks = [][]Annotation{nil} // there is more to say than annotations
	}
	p.change = cmp.Or(p.change, Updated)
	if run == nil {
		run, err = p.create(ctx, chunks[0])
		p.there = p.there || err == nil || passing(err)
		if err != nil {
			return nil, err
		}
		p.change = Created
		p.id, chunks = run.GetID(), chunks[1:]
		if len(chunks) == 0 {
			// A job that looked at the same moment has made one too.
			if runs, err = p.client.ownChecks(ctx, p.repo, p.sha, p.check.Name); err != nil {
				return run, err
			}
		}
	}
	for _, chunk := range chunks {
		if err := p.update(ctx, run, chunk); err != nil {
			return nil, err
		}
	}
	return run, p.finishOthers(ctx, slices.DeleteFunc(runs, func(o *gh.CheckRun) bool { return o.GetID() == run.GetID() }))
}

func (p *checking) create(ctx context.Context, annotations []Annotation) (*gh.CheckRun, error) {
	output, err := p.check.output(annotations, limits[p.limit])
	if err != nil {
		return nil, err
	}
	options := gh.CreateCheckRunOptions{
		Name: p.check.Name, HeadSHA: p.sha, DetailsURL: optional(p.check.DetailsURL), ExternalID: gh.String(p.check.id()),
		Status: gh.String("in_progress"), Output: output,
	}
	if !p.open {
		options.Status, options.Conclusion = gh.String("completed"), &p.check.Conclusion
	}
	run, _, err := p.client.api.Checks.CreateCheckRun(once(ctx), p.repo.Owner, p.repo.Name, options)
	if err == nil {
		p.client.learn(run.GetApp())
	}
	return run, err
}

// update is sent once: annotations that come twice are there twice.
func (p *checking) update(ctx context.Context, run *gh.CheckRun, annotations []Annotation) error {
	output, err := p.check.output(annotations, limits[p.limit])
	if err != nil {
		return err
	}
	options := gh.UpdateCheckRunOptions{
		Name: p.check.Name, DetailsURL: optional(p.check.DetailsURL), ExternalID: gh.String(p.check.id()),
		Status: gh.String("in_progress"), Output: output,
	}
	if !p.open {
		options.Status, options.Conclusion = gh.String("completed"), &p.check.Conclusion
	}
	_, _, err = p.client.api.Checks.UpdateCheckRun(once(ctx), p.repo.Owner, p.repo.Name, run.GetID(), options)
	return err
}

// finishOthers completes runs that would stay in progress for ever.
// Completed ones are history, of which GitHub shows the newest.
func (p *checking) finishOthers(ctx context.Context, runs []*gh.CheckRun) error {
	if p.open {
		return nil // they may be somebody's who is about to
	}
	for _, run := range runs {
		if run.GetStatus() == "completed" {
			continue
		}
		_, _, err := p.client.api.Checks.UpdateCheckRun(ctx, p.repo.Owner, p.repo.Name, run.GetID(), gh.UpdateCheckRunOptions{
			Name: p.check.Name, Status: gh.String("completed"), Conclusion: &p.check.Conclusion,
			Output: &gh.CheckRunOutput{Title: &p.check.Title, Summary: gh.String("Another check run of the same name has more.")},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reusable returns the run to update, or nil, and the annotations that it
// lacks. runs begin with the newest.
func (p *checking) reusable(ctx context.Context, runs []*gh.CheckRun) (*gh.CheckRun, []Annotation, error) {
	wanted := p.check.annotations()
	i := slices.IndexFunc(runs, func(run *gh.CheckRun) bool { return p.id != 0 && run.GetID() == p.id })
	switch {
	case len(runs) == 0:
		return nil, wanted, nil
	case p.open && runs[max(i, 0)].GetStatus() == "completed":
		return nil, nil, nil // what was concluded is history
	}
	run := runs[max(i, 0)]
	if run.GetOutput().GetAnnotationsCount() == 0 {
		return run, wanted, nil
	}
	there, err := allPages(func(page gh.ListOptions) ([]*gh.CheckRunAnnotation, *gh.Response, error) {
		return p.client.api.Checks.ListCheckRunAnnotations(ctx, p.repo.Owner, p.repo.Name, run.GetID(), &page)
	})
	if err != nil {
		return nil, nil, err
	}
	missing := slices.Clone(wanted)
	for _, a := range there {
		i := slices.Index(missing, Annotation{
			Path: a.GetPath(), Line: a.GetStartLine(), EndLine: a.GetEndLine(), Level: a.GetAnnotationLevel(),
			Title: a.GetTitle(), Message: a.GetMessage(),
		})
		if i < 0 {
			return nil, wanted, nil // it is out of date and cannot be taken back
		}
		missing = slices.Delete(missing, i, i+1)
	}
	return run, missing, nil
}

// ownChecks returns the check runs of that name that were made here, the newest
// first. Only the app that made a check run may change it.
func (c *Client) ownChecks(ctx context.Context, repo Repo, headSHA, name string) ([]*gh.CheckRun, error) {
	me, err := c.whose(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := allPages(func(page gh.ListOptions) ([]*gh.CheckRun, *gh.Response, error) {
		found, response, err := c.api.Checks.ListCheckRunsForRef(ctx, repo.Owner, repo.Name, headSHA,
			&gh.ListCheckRunsOptions{CheckName: &name, Filter: gh.String("all"), ListOptions: page})
		if err != nil {
			return nil, response, err
		}
		return found.CheckRuns, response, nil
	})
	runs = slices.DeleteFunc(runs, func(run *gh.CheckRun) bool {
		return run.GetName() != name || !checkIDs.MatchString(run.GetExternalID()) || !me.made(run)
	})
	slices.SortFunc(runs, func(a, b *gh.CheckRun) int {
		return -cmp.Or(checkSeq(a).compare(checkSeq(b)), cmp.Compare(a.GetID(), b.GetID()))
	})
	return runs, err
}

// checkIDs matches the external ids of check runs made here.
var checkIDs = lazyregexp.New(`^accelgate(?: (\d{1,19})\.(\d{1,19}))?$`)

// id marks the check runs made here, and when. A workflow's job is a check run
// of the same app and could have the same name.
func (k Check) id() string {
	if !k.Seq.known() {
		return "accelgate"
	}
	return "accelgate " + k.Seq.String()
}

// checkSeq returns which run made a check run of ours.
func checkSeq(run *gh.CheckRun) Seq {
	found := checkIDs.FindStringSubmatch(run.GetExternalID())
	if found == nil {
		return Seq{}
	}
	seq, _ := parseSeq(found[1], found[2])
	return seq
}

func checkCommit(id string) error {
	if !commitID.MatchString(id) {
		return fmt.Errorf("%q is not a commit: give its full id", text.Cut(id, 80))
	}
	return nil
}

// check returns why GitHub would refuse the check run.
func (k Check) check() error {
	switch {
	case k.Name == "" || k.Conclusion == "" || k.Title == "" || k.Summary == "" && k.Body == nil:
		return errors.New("a check run needs a name, a conclusion, a title and a summary")
	case utf8.RuneCountInString(k.Summary) > MaxCheckText || utf8.RuneCountInString(k.Text) > MaxCheckText:
		return fmt.Errorf("the summary or the text is longer than %d characters: shorten it", MaxCheckText)
	}
	return nil
}

// annotations returns the annotations as they are sent and as GitHub returns
// them.
func (k Check) annotations() []Annotation {
	sent := slices.Clone(k.Annotations)
	for i, a := range sent {
		a.Line = max(a.Line, 1)
		a.EndLine = max(a.EndLine, a.Line)
		a.Title = text.Cut(a.Title, maxAnnotationTitle)
		a.Message = text.Cut(a.Message, maxAnnotationMessage)
		sent[i] = a
	}
	return sent
}

func (k Check) output(annotations []Annotation, limit int) (*gh.CheckRunOutput, error) {
	if k.Body != nil {
		var err error
		if k.Summary, err = k.Body.at(limit); err != nil {
			return nil, hopeless{err}
		}
	}
	output := &gh.CheckRunOutput{Title: &k.Title, Summary: &k.Summary, Text: optional(k.Text)}
	for _, a := range annotations {
		output.Annotations = append(output.Annotations, &gh.CheckRunAnnotation{
			Path: &a.Path, StartLine: &a.Line, EndLine: &a.EndLine, AnnotationLevel: &a.Level,
			Title: optional(a.Title), Message: &a.Message,
		})
	}
	return output, nil
}
