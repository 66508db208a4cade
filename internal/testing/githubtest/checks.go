package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// actionsAppID is the id of the app behind GITHUB_TOKEN on github.com.
const actionsAppID = 15368

// checkRun is a check run. Its app is the one whose token created it.
type checkRun struct {
	id                     int64
	name, sha, login       string
	externalID, detailsURL string
	status, conclusion     string
	title, summary, text   string
	annotations            []annotation
	startedAt, completedAt time.Time
}

// annotation is an annotation as it is sent and as it is returned.
type annotation struct {
	Path        string  `json:"path"`
	StartLine   int     `json:"start_line"`
	EndLine     int     `json:"end_line"`
	StartColumn *int    `json:"start_column"`
	EndColumn   *int    `json:"end_column"`
	Level       string  `json:"annotation_level"`
	Message     string  `json:"message"`
	Title       *string `json:"title"`
	RawDetails  *string `json:"raw_details"`
}

func (c *call) check(k *checkRun) object {
	o := object{
		"id": k.id, "name": k.name, "head_sha": k.sha, "external_id": k.externalID, "status": k.status,
		"url": c.address("check-runs/%d", k.id), "html_url": c.page("runs/%d", k.id), "details_url": k.detailsURL,
		"started_at": k.startedAt.Format(time.RFC3339), "app": c.app(k.login), "check_suite": object{"id": appID(k.login)},
		"output": object{
			"title": orNull(k.title), "summary": orNull(k.summary), "text": orNull(k.text),
			"annotations_count": len(k.annotations), "annotations_url": c.address("check-runs/%d/annotations", k.id),
		},
	}
	if k.status == "completed" {
		o["conclusion"], o["completed_at"] = k.conclusion, k.completedAt.Format(time.RFC3339)
	}
	return o
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// appID returns the id of the app that acts as login.
func appID(login string) int {
	if login == "github-actions[bot]" {
		return actionsAppID
	}
	return actionsAppID + 1 + len(login)
}

func (c *call) app(login string) object {
	slug := strings.TrimSuffix(login, "[bot]")
	now := c.clock.Format(time.RFC3339)
	return object{
		"id": appID(login), "slug": slug, "name": slug, "description": "", "owner": c.user("github"),
		"permissions": object{}, "created_at": now, "updated_at": now,
	}
}

// checkInput is what a client sends to create or update a check run.
type checkInput struct {
	Name       *string
	HeadSHA    string  `json:"head_sha"`
	DetailsURL *string `json:"details_url"`
	ExternalID *string `json:"external_id"`
	Status     *string
	Conclusion *string
	Output     *struct {
		Title       *string
		Summary     *string
		Text        *string
		Annotations []annotation
	}
}

// apply changes k as in says: what in does not name stays as it is, and
// annotations are added to those that k has.
func (k *checkRun) apply(in checkInput, now time.Time) {
	set := func(to *string, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&k.name, in.Name)
	set(&k.detailsURL, in.DetailsURL)
	set(&k.externalID, in.ExternalID)
	set(&k.status, in.Status)
	set(&k.conclusion, in.Conclusion)
	if in.Conclusion != nil {
		k.status, k.completedAt = "completed", now
	}
	if in.Output != nil {
		set(&k.title, in.Output.Title)
		set(&k.summary, in.Output.Summary)
		set(&k.text, in.Output.Text)
		k.annotations = append(k.annotations, in.Output.Annotations...)
	}
}

// tooLong is GitHub's answer to a text that is longer than a check run takes.
func (in checkInput) tooLong(maximum int) *reply {
	if in.Output == nil || maximum >= maxBodyLength { // the description's own limit holds
		return nil
	}
	for _, text := range []*string{in.Output.Summary, in.Output.Text} {
		if text != nil && utf8.RuneCountInString(*text) > maximum {
			r := refused("Invalid request.\n\nOnly %d characters are allowed; %d were supplied.", maximum, utf8.RuneCountInString(*text))
			return &r
		}
	}
	return nil
}

// needsApp is the answer to users: check runs belong to GitHub Apps. No
// permission of a fine-grained token is one for them.
func needsApp(t Token) reply {
	if t.Permissions != nil {
		return inaccessible(t)
	}
	return failure(http.StatusForbidden, "You must authenticate via a GitHub App.")
}

func createCheck(c *call) reply {
	if !c.token.Integration {
		return needsApp(c.token)
	}
	var in checkInput
	c.decode(&in)
	if _, known := c.repo.git.commits[in.HeadSHA]; !known {
		return refused("No commit found for SHA: %s", in.HeadSHA)
	}
	if in.Status != nil && *in.Status == "completed" && in.Conclusion == nil {
		return refused("Invalid request.\n\n\"conclusion\" wasn't supplied.")
	}
	if problem := in.tooLong(c.repo.maxBody); problem != nil {
		return *problem
	}
	now := c.tick()
	k := &checkRun{id: c.newID(), sha: in.HeadSHA, login: c.token.Login, status: "queued", startedAt: now}
	k.apply(in, now)
	c.repo.checks = append(c.repo.checks, k)
	return created(c.check(k))
}

func updateCheck(c *call) reply {
	k := c.repo.checkByID(c.number("check_run_id"))
	switch {
	case !c.token.Integration:
		return needsApp(c.token)
	case k == nil:
		return notFound()
	case k.login != c.token.Login:
		return failure(http.StatusForbidden, fmt.Sprintf(
			"Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", appID(c.token.Login)))
	}
	var in checkInput
	c.decode(&in)
	if problem := in.tooLong(c.repo.maxBody); problem != nil {
		return *problem
	}
	k.apply(in, c.tick())
	return ok(c.check(k))
}

func getCheck(c *call) reply {
	k := c.repo.checkByID(c.number("check_run_id"))
	if k == nil {
		return notFound()
	}
	return ok(c.check(k))
}

func (r *repository) checkByID(id int64) *checkRun {
	i := slices.IndexFunc(r.checks, func(k *checkRun) bool { return k.id == id })
	if i < 0 {
		return nil
	}
	return r.checks[i]
}

func listChecks(c *call) reply {
	sha := c.repo.resolve(c.params["ref"])
	if sha == "" {
		return refused("No commit found for SHA: %s", c.params["ref"])
	}
	query := c.url.Query()
	var found []*checkRun
	seen := map[string]bool{}
	for _, k := range slices.Backward(c.repo.checks) { // the newest first
		key := k.login + "\x00" + k.name
		superseded := seen[key] && query.Get("filter") != "all"
		if k.sha != sha || superseded ||
			query.Get("check_name") != "" && k.name != query.Get("check_name") ||
			query.Get("status") != "" && k.status != query.Get("status") ||
			query.Get("app_id") != "" && fmt.Sprint(appID(k.login)) != query.Get("app_id") {
			continue
		}
		seen[key] = true
		found = append(found, k)
	}
	page, header := paginate(c, found)
	listing := list{}
	for _, k := range page {
		listing = append(listing, c.check(k))
	}
	return reply{status: http.StatusOK, header: header, body: object{"total_count": len(found), "check_runs": listing}}
}

func listAnnotations(c *call) reply {
	k := c.repo.checkByID(c.number("check_run_id"))
	if k == nil {
		return notFound()
	}
	page, header := paginate(c, k.annotations)
	listing := list{}
	for _, a := range page {
		listing = append(listing, struct {
			annotation
			BlobHref string `json:"blob_href"`
		}{a, c.page("blob/%s/%s", k.sha, a.Path)})
	}
	return reply{status: http.StatusOK, header: header, body: listing}
}
