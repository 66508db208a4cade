package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// operation is what the server does for one operation of the description.
type operation struct {
	// permissions lists what a token needs, one of them being enough, at level
	// "read" or "write". None are needed where it is empty.
	permissions []string
	level       string
	serve       func(*call) reply
}

// operations is everything the server can do, by the ids of the description.
var operations = map[string]operation{
	"users/get-authenticated": {serve: getUser},

	"repos/get":         read(getRepo, "metadata"),
	"repos/get-content": read(getContent, "contents"),

	"repos/get-branch":       read(getBranch, "contents"),
	"repos/get-branch-rules": read(getBranchRules, "metadata"),

	"git/get-ref":       read(getRef, "contents"),
	"git/create-ref":    write(createRef, "contents"),
	"git/update-ref":    write(updateRef, "contents"),
	"git/get-blob":      read(getBlob, "contents"),
	"git/create-blob":   write(createBlob, "contents"),
	"git/get-tree":      read(getTree, "contents"),
	"git/create-tree":   write(createTree, "contents"),
	"git/get-commit":    read(getCommit, "contents"),
	"git/create-commit": write(createCommit, "contents"),
	"git/delete-ref":    write(deleteRef, "contents"),

	"repos/compare-commits-with-basehead":                                read(compare, "contents"),
	"repos/list-pull-requests-associated-with-commit":                    read(pullsOfCommit, "pull-requests", "contents"),
	"repos/get-collaborator-permission-level":                            read(getPermission, "metadata"),
	"repos/create-dispatch-event":                                        write(dispatchRepository, "contents"),
	"reactions/create-for-issue-comment":                                 write(createReaction, "issues", "pull-requests"),
	"issues/list-events":                                                 read(listEvents, "issues"),
	"issues/add-labels":                                                  write(addLabels, "issues", "pull-requests"),
	"pulls/request-reviewers":                                            write(requestReviewers, "pull-requests"),
	"actions/list-workflow-run-artifacts":                                read(listArtifacts, "actions"),
	"actions/get-artifact":                                               read(getArtifact, "actions"),
	"actions/download-artifact":                                          read(downloadArtifact, "actions"),
	"actions/get-workflow-run":                                           read(getRun, "actions"),
	"actions/list-workflow-runs-for-repo":                                read(listRuns, "actions"),
	"actions/list-self-hosted-runners-for-repo":                          read(listRunners, "administration"),
	"actions/re-run-workflow":                                            write(rerun, "actions"),
	"actions/re-run-workflow-failed-jobs":                                write(rerunFailed, "actions"),
	"actions/create-workflow-dispatch":                                   write(dispatchWorkflow, "actions"),
	"actions/get-github-actions-default-workflow-permissions-repository": read(getWorkflowPermissions, "administration"),

	"issues/list-comments":  read(listComments, "issues", "pull-requests"),
	"issues/get-comment":    read(getComment, "issues", "pull-requests"),
	"issues/create-comment": write(createComment, "issues", "pull-requests"),
	"issues/update-comment": write(updateComment, "issues", "pull-requests"),
	"issues/delete-comment": write(deleteComment, "issues", "pull-requests"),

	"repos/list-comments-for-commit": read(listCommitComments, "contents"),
	"repos/create-commit-comment":    write(createCommitComment, "contents"),
	"repos/update-commit-comment":    write(updateCommitComment, "contents"),

	"pulls/list":   read(listPulls, "pull-requests"),
	"pulls/get":    read(getPull, "pull-requests"),
	"pulls/create": write(createPull, "pull-requests"),
	"pulls/update": write(updatePull, "pull-requests"),

	"checks/create":           write(createCheck, "checks"),
	"checks/update":           write(updateCheck, "checks"),
	"checks/get":              read(getCheck, "checks"),
	"checks/list-for-ref":     read(listChecks, "checks"),
	"checks/list-annotations": read(listAnnotations, "checks"),
}

func read(serve func(*call) reply, permissions ...string) operation {
	return operation{permissions: permissions, level: "read", serve: serve}
}

func write(serve func(*call) reply, permissions ...string) operation {
	return operation{permissions: permissions, level: "write", serve: serve}
}

// call is one request that passed the contract, with the state to serve it.
// The server's lock is held while it runs.
type call struct {
	*Server
	repo   *repository // nil for operations without one
	token  Token
	params map[string]string
	url    *url.URL
	body   []byte
	base   string // scheme and host of the server
}

// reply is a response before it is encoded; a nil body is none.
type reply struct {
	status int
	header http.Header
	body   any
}

// run checks what every operation needs and serves it.
func (c *call) run(o operation) reply {
	if owner, ok := c.params["owner"]; ok {
		c.repo = c.repos[strings.ToLower(owner+"/"+c.params["repo"])]
		if c.repo == nil {
			return notFound()
		}
	}
	if !c.token.may(o.level, o.permissions) {
		return inaccessible(c.token)
	}
	return o.serve(c)
}

// authenticate returns the token of a request.
func (s *Server) authenticate(r *http.Request) (Token, bool) {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "token") {
		return Token{}, false
	}
	token, ok := s.tokens[value]
	return token, ok
}

// may reports whether the token has one of the permissions. Every token may
// read a repository's metadata.
func (t Token) may(level string, permissions []string) bool {
	if t.Permissions == nil || len(permissions) == 0 {
		return true
	}
	for _, p := range permissions {
		given := t.Permissions[p]
		if p == "metadata" || given == "write" || given == level {
			return true
		}
	}
	return false
}

// decode reads the body, which the contract has checked already.
func (c *call) decode(v any) {
	_ = json.Unmarshal(c.body, v) // an absent optional body leaves v as it is
}

// number returns a parameter of the path that the contract has checked to be
// an integer.
func (c *call) number(name string) int64 {
	n, _ := strconv.ParseInt(c.params[name], 10, 64)
	return n
}

// address returns the API address of something of the repository.
func (c *call) address(format string, args ...any) string {
	return c.base + "/repos/" + c.repo.fullName() + "/" + fmt.Sprintf(format, args...)
}

// page returns the address of something of the repository for people.
func (c *call) page(format string, args ...any) string {
	return c.base + "/" + c.repo.fullName() + "/" + fmt.Sprintf(format, args...)
}

func ok(body any) reply      { return reply{status: http.StatusOK, body: body} }
func created(body any) reply { return reply{status: http.StatusCreated, body: body} }
func noContent() reply       { return reply{status: http.StatusNoContent} }
func notFound() reply        { return failure(http.StatusNotFound, "Not Found") }

// failure is GitHub's common form of an error.
func failure(status int, message string) reply {
	return reply{status: status, body: object{
		"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status),
	}}
}

// refused is an error of what was asked for, without a list of fields.
func refused(format string, args ...any) reply {
	return failure(http.StatusUnprocessableEntity, fmt.Sprintf(format, args...))
}

// invalid is an error of one field of what was asked for.
func invalid(resource, field, code, message string) reply {
	r := refused("Validation Failed")
	problem := object{"resource": resource, "code": code}
	if field != "" {
		problem["field"] = field
	}
	if message != "" {
		problem["message"] = message
	}
	r.body.(object)["errors"] = list{problem}
	return r
}

// inaccessible is what GitHub tells a token that lacks a permission.
func inaccessible(t Token) reply {
	who := "personal access token"
	if t.Integration {
		who = "integration"
	}
	return failure(http.StatusForbidden, "Resource not accessible by "+who)
}
