package github

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v62/github"
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

// checkID marks the check runs made here. A workflow's job is a check run of
// the same app and could have the same name.
const checkID = "accelgate"

// Check is what a check run says.
type Check struct {
	Name string
	// Conclusion is success, failure, neutral, action_required, cancelled,
	// skipped or timed_out.
	Conclusion string
	Title      string // one line
	Summary    string // Markdown, required, at most MaxCheckText
	Text       string // Markdown, at most MaxCheckText
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

// commitID matches the full id of a commit. Anything else could lead to
// another address of the API.
var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// UpsertCheck makes check the completed check run of its name on a commit: it
// updates the one it made before, or creates one. GitHub only ever adds
// annotations, so where an earlier run has some that check has not, a new run
// takes its place.
func (c *Client) UpsertCheck(ctx context.Context, repo Repo, headSHA string, check Check) (CheckRun, error) {
	doing := fmt.Sprintf("publish check run %q on %s@%s", check.Name, repo, headSHA)
	if err := errors.Join(repo.check(), check.check()); err != nil {
		return CheckRun{}, fmt.Errorf("%s: %w", doing, err)
	}
	if !commitID.MatchString(headSHA) {
		return CheckRun{}, fmt.Errorf("%s: %q is no commit: give its full id", doing, headSHA)
	}
	run, change, err := c.upsertCheck(ctx, repo, headSHA, check)
	if err != nil {
		return CheckRun{}, explain(doing, checkPermission, err)
	}
	return CheckRun{ID: run.GetID(), URL: run.GetHTMLURL(), Change: change}, nil
}

func (c *Client) upsertCheck(ctx context.Context, repo Repo, headSHA string, check Check) (*gh.CheckRun, Change, error) {
	run, pending, err := c.reusableCheck(ctx, repo, headSHA, check)
	if err != nil {
		return nil, "", err
	}
	chunks := slices.Collect(slices.Chunk(pending, maxAnnotations))
	if len(chunks) == 0 {
		chunks = [][]Annotation{nil} // there is more to say than annotations
	}
	change := Updated
	if run == nil {
		change = Created
		run, _, err = c.api.Checks.CreateCheckRun(ctx, repo.Owner, repo.Name, gh.CreateCheckRunOptions{
			Name: check.Name, HeadSHA: headSHA, DetailsURL: optional(check.DetailsURL), ExternalID: gh.String(checkID),
			Status: gh.String("completed"), Conclusion: &check.Conclusion, Output: check.output(chunks[0]),
		})
		if err != nil {
			return nil, "", err
		}
		chunks = chunks[1:]
	}
	for _, chunk := range chunks {
		_, _, err := c.api.Checks.UpdateCheckRun(ctx, repo.Owner, repo.Name, run.GetID(), gh.UpdateCheckRunOptions{
			Name: check.Name, DetailsURL: optional(check.DetailsURL),
			Status: gh.String("completed"), Conclusion: &check.Conclusion, Output: check.output(chunk),
		})
		if err != nil {
			return nil, "", err
		}
	}
	return run, change, nil
}

// reusableCheck returns the run to update, or nil, and the annotations that it
// lacks.
func (c *Client) reusableCheck(ctx context.Context, repo Repo, headSHA string, check Check) (*gh.CheckRun, []Annotation, error) {
	wanted := check.annotations()
	run, err := c.ownCheck(ctx, repo, headSHA, check.Name)
	if err != nil || run == nil || run.GetOutput().GetAnnotationsCount() == 0 {
		return run, wanted, err
	}
	there, err := allPages(func(page gh.ListOptions) ([]*gh.CheckRunAnnotation, *gh.Response, error) {
		return c.api.Checks.ListCheckRunAnnotations(ctx, repo.Owner, repo.Name, run.GetID(), &page)
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

// ownCheck returns the newest check run of that name that was made here, or
// nil. Only the app that made a check run may change it.
func (c *Client) ownCheck(ctx context.Context, repo Repo, headSHA, name string) (*gh.CheckRun, error) {
	login, err := c.login(ctx)
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
	if err != nil {
		return nil, err
	}
	var newest *gh.CheckRun
	for _, run := range runs {
		own := run.GetExternalID() == checkID && strings.EqualFold(run.GetApp().GetSlug()+"[bot]", login)
		if own && run.GetName() == name && run.GetID() > newest.GetID() {
			newest = run
		}
	}
	return newest, nil
}

// check returns why GitHub would refuse the check run.
func (k Check) check() error {
	switch {
	case k.Name == "" || k.Conclusion == "" || k.Title == "" || k.Summary == "":
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
		a.Title = cut(a.Title, maxAnnotationTitle)
		a.Message = cut(a.Message, maxAnnotationMessage)
		sent[i] = a
	}
	return sent
}

// cut shortens s to at most n bytes without splitting a character.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func (k Check) output(annotations []Annotation) *gh.CheckRunOutput {
	output := &gh.CheckRunOutput{Title: &k.Title, Summary: &k.Summary, Text: optional(k.Text)}
	for _, a := range annotations {
		output.Annotations = append(output.Annotations, &gh.CheckRunAnnotation{
			Path: &a.Path, StartLine: &a.Line, EndLine: &a.EndLine, AnnotationLevel: &a.Level,
			Title: optional(a.Title), Message: &a.Message,
		})
	}
	return output
}

// optional leaves an empty text out of a request.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
