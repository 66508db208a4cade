package githubtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// blobPrefix is where archives are downloaded from. On GitHub that is another
// host, which takes no token.
const blobPrefix = "/_blob/"

// workflowRun is a run of a workflow.
type workflowRun struct {
	RunSeed
	created time.Time
}

// artifact is an archive that a run left.
type artifact struct {
	ArtifactSeed
	id, run int64
	created time.Time
}

// Dispatch is something that was asked of workflows.
type Dispatch struct {
	Workflow string         `json:"workflow,omitempty"` // file or id
	Ref      string         `json:"ref,omitempty"`      // of a workflow's dispatch
	Event    string         `json:"event,omitempty"`    // type of a repository's event
	Payload  map[string]any `json:"payload,omitempty"`  // inputs or payload
	Rerun    int64          `json:"rerun,omitempty"`    // run to run again
	Failed   bool           `json:"failed,omitempty"`   // only its failed jobs
	Login    string         `json:"login"`              // who asked
}

func (s *Server) seedRun(r *repository, seed RunSeed) {
	now := s.tick()
	if seed.Event == "" {
		seed.Event = "pull_request"
	}
	if seed.HeadRepo == "" {
		seed.HeadRepo = r.fullName()
	}
	seed.Attempt = max(seed.Attempt, 1)
	r.runs = append(r.runs, &workflowRun{RunSeed: seed, created: now})
	for _, a := range seed.Artifacts {
		r.artifacts = append(r.artifacts, &artifact{ArtifactSeed: a, id: s.newID(), run: seed.ID, created: now})
	}
}

// BlobHost makes archives be downloaded from another address, as GitHub's are.
// A server there has to lead to s.
func (s *Server) BlobHost(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobBase = address
}

func (r *repository) run(id int64) *workflowRun {
	for _, run := range r.runs {
		if run.ID == id {
			return run
		}
	}
	return nil
}

func (c *call) workflowRun(run *workflowRun) object {
	status, now := "completed", run.created.Format(time.RFC3339)
	if run.Conclusion == "" {
		status = "in_progress"
	}
	owner, name, _ := strings.Cut(run.HeadRepo, "/")
	head := c.repository()
	head["name"], head["full_name"], head["owner"], head["description"] = name, run.HeadRepo, c.user(owner), nil
	return object{
		"id": run.ID, "run_attempt": run.Attempt, "run_number": 1, "event": run.Event, "status": status,
		"conclusion": orNull(run.Conclusion), "head_branch": orNull(run.HeadBranch), "head_sha": run.HeadSHA,
		"head_repository": head, "repository": c.repository(), "path": ".github/workflows/accelgate.yml", "display_title": "run",
		"workflow_id": 1, "created_at": now, "updated_at": now, "head_commit": nil, "html_url": c.page("actions/runs/%d", run.ID),
	}
}

func getRun(c *call) reply {
	run := c.repo.run(c.number("run_id"))
	if run == nil {
		return notFound()
	}
	return ok(c.workflowRun(run))
}

func rerunFailed(c *call) reply { return rerunJobs(c, true) }

func rerun(c *call) reply { return rerunJobs(c, false) }

// rerunJobs starts another attempt. GitHub refuses it while the run is going on.
func rerunJobs(c *call, failed bool) reply {
	run := c.repo.run(c.number("run_id"))
	switch {
	case run == nil:
		return notFound()
	case run.Conclusion == "":
		return failure(http.StatusForbidden, "This workflow is already running")
	}
	run.Attempt++
	run.Conclusion = ""
	c.dispatches = append(c.dispatches, Dispatch{Rerun: run.ID, Failed: failed, Login: c.token.Login})
	return created(object{})
}

func dispatchWorkflow(c *call) reply {
	var in struct {
		Ref    string
		Inputs map[string]any
	}
	c.decode(&in)
	if c.repo.resolve(in.Ref) == "" {
		return refused("No ref found for: %s", in.Ref)
	}
	c.dispatches = append(c.dispatches, Dispatch{Workflow: c.params["workflow_id"], Ref: in.Ref, Payload: in.Inputs, Login: c.token.Login})
	return noContent()
}

func dispatchRepository(c *call) reply {
	var in struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"client_payload"`
	}
	c.decode(&in)
	c.dispatches = append(c.dispatches, Dispatch{Event: in.Type, Payload: in.Payload, Login: c.token.Login})
	return noContent()
}

func getWorkflowPermissions(c *call) reply {
	return ok(object{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": !c.repo.forbidPulls})
}

func (c *call) artifact(a *artifact) object {
	now := a.created.Format(time.RFC3339)
	digest := a.Digest
	if digest == "" {
		digest = fmt.Sprintf("sha256:%x", sha256.Sum256(a.Data))
	}
	return object{
		"id": a.id, "name": a.Name, "size_in_bytes": len(a.Data), "expired": a.Expired, "digest": digest,
		"url": c.address("actions/artifacts/%d", a.id), "archive_download_url": c.address("actions/artifacts/%d/zip", a.id),
		"created_at": now, "updated_at": now, "expires_at": now, "workflow_run": object{"id": a.run},
	}
}

func listArtifacts(c *call) reply {
	id := c.number("run_id")
	if c.repo.run(id) == nil {
		return notFound()
	}
	var found []*artifact
	for _, a := range c.repo.artifacts {
		if name := c.url.Query().Get("name"); a.run == id && (name == "" || a.Name == name) {
			found = append(found, a)
		}
	}
	page, header := paginate(c, found)
	listing := list{}
	for _, a := range page {
		listing = append(listing, c.artifact(a))
	}
	return reply{status: http.StatusOK, header: header, body: object{"total_count": len(found), "artifacts": listing}}
}

func (r *repository) artifact(id int64) *artifact {
	for _, a := range r.artifacts {
		if a.id == id {
			return a
		}
	}
	return nil
}

func getArtifact(c *call) reply {
	a := c.repo.artifact(c.number("artifact_id"))
	if a == nil {
		return notFound()
	}
	return ok(c.artifact(a))
}

// downloadArtifact leads to the archive, as GitHub does, by an address that is
// enough to get it.
func downloadArtifact(c *call) reply {
	a := c.repo.artifact(c.number("artifact_id"))
	switch {
	case a == nil || c.params["archive_format"] != "zip":
		return notFound()
	case a.Expired:
		return failure(http.StatusGone, "Artifact has expired")
	}
	base := c.blobBase
	if base == "" {
		base = c.base
	}
	return reply{
		status: http.StatusFound,
		header: http.Header{"Location": {base + blobPrefix + strconv.FormatInt(a.id, 10) + "?sig=secret"}},
	}
}

// blob delivers an archive to whoever has its address. A token that comes along
// is one that went to a foreign host.
func (s *Server) blob(r *http.Request, id string, log *Request) response {
	if r.Header.Get("Authorization") != "" {
		s.violate("request", log, errors.New("the token went to the host of the archives"))
		return response{status: http.StatusBadRequest}
	}
	n, _ := strconv.ParseInt(id, 10, 64)
	for _, repo := range s.repos {
		if a := repo.artifact(n); a != nil && r.URL.Query().Get("sig") == "secret" {
			return response{status: http.StatusOK, header: http.Header{"Content-Type": {"application/zip"}}, body: a.Data}
		}
	}
	return response{status: http.StatusNotFound}
}
