package doctor

// called is what a reusable workflow of this version takes from its caller. A test
// compares it with the files.
type called struct {
	event       string // that the caller must run on; "" for any
	inputs      []string
	permissions map[string]string
}

// workflows are those of .github/workflows that others call.
var reusable = map[string]called{
	"gate.yml": {
		event: "pull_request",
		inputs: []string{
			"hosts", "build", "config", "suite", "profile", "model-dir", "pairs", "timeout-minutes", "require-baseline",
			"comment", "notify", "check-name", "labels", "reviewers", "history-branch", "site-url", "post-on",
		},
		permissions: map[string]string{
			"actions":       "read",
			"contents":      "write",
			"pull-requests": "write",
			"issues":        "read",
			"checks":        "write",
		},
	},
	"forks.yml": {
		event:  "workflow_run",
		inputs: []string{"hosts", "config", "check-name", "post-on"},
		permissions: map[string]string{
			"actions":       "read",
			"contents":      "read",
			"pull-requests": "write",
			"issues":        "read",
			"checks":        "write",
		},
	},
	"pages.yml": {
		inputs:      []string{"config", "history-branch", "title", "build-on"},
		permissions: map[string]string{"contents": "read", "pages": "write", "id-token": "write"},
	},
	"chat.yml": {
		event:       "issue_comment",
		inputs:      []string{"workflow", "config", "check-name", "post-on"},
		permissions: map[string]string{"checks": "read", "actions": "write", "contents": "write", "pull-requests": "write"},
	},
}
