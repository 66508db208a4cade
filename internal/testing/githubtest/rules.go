package githubtest

import (
	"net/http"
	"strconv"
)

func getBranch(c *call) reply {
	name := c.params["branch"]
	sha := c.repo.head(name)
	if sha == "" {
		return failure(http.StatusNotFound, "Branch not found")
	}
	required := c.requiredOf(name)
	level := "off"
	if len(required) > 0 {
		level = "non_admins"
	}
	return ok(object{
		"name": name, "protected": len(required) > 0, "commit": c.commitOf(sha),
		"protection": object{"enabled": len(required) > 0,
			"required_status_checks": object{"enforcement_level": level, "contexts": required, "checks": list{}}},
		"protection_url": c.address("branches/%s/protection", name),
		"_links":         object{"self": c.address("branches/%s", name), "html": c.page("tree/%s", name)},
	})
}

func (c *call) requiredOf(branch string) []string {
	if branch != c.repo.defaultBranch || c.repo.required == nil {
		return []string{}
	}
	return c.repo.required
}

// commitOf is a commit as the repository's operations show it.
func (c *call) commitOf(sha string) object {
	person := object{"name": c.repo.owner, "email": c.repo.owner + "@example.org", "date": c.clock.Format("2006-01-02T15:04:05Z")}
	return object{
		"sha": sha, "node_id": "C_" + sha, "url": c.address("commits/%s", sha), "html_url": c.page("commit/%s", sha),
		"comments_url": c.address("commits/%s/comments", sha), "author": nil, "committer": nil, "parents": list{},
		"commit": object{"url": c.address("git/commits/%s", sha), "author": person, "committer": person, "message": "a commit",
			"comment_count": 0, "tree": object{"sha": sha, "url": c.address("git/trees/%s", sha)}},
	}
}

// getBranchRules lists the rules of rulesets; GitHub lists them for branches that do not
// exist, too.
func getBranchRules(c *call) reply {
	listing := list{}
	if c.params["branch"] == c.repo.defaultBranch && len(c.repo.ruled) > 0 {
		checks := list{}
		for _, name := range c.repo.ruled {
			checks = append(checks, object{"context": name})
		}
		listing = append(listing, object{
			"type": "required_status_checks", "ruleset_source_type": "Repository", "ruleset_source": c.repo.fullName(), "ruleset_id": 1,
			"parameters": object{"required_status_checks": checks, "strict_required_status_checks_policy": false},
		})
	}
	return ok(listing)
}

func listRunners(c *call) reply {
	listing := list{}
	for i, r := range c.repo.runners {
		labels := list{}
		for _, name := range r.Labels {
			labels = append(labels, object{"name": name, "type": "custom"})
		}
		status := "online"
		if r.Offline {
			status = "offline"
		}
		listing = append(listing, object{"id": i + 1, "name": r.Name, "os": "linux", "status": status, "busy": false, "labels": labels})
	}
	return ok(object{"total_count": len(listing), "runners": listing})
}

func listRuns(c *call) reply {
	listing := list{}
	for _, run := range c.repo.runs {
		listing = append(listing, c.workflowRun(run))
	}
	maximum, err := strconv.Atoi(c.url.Query().Get("per_page"))
	if err != nil {
		maximum = 30
	}
	return ok(object{"total_count": len(listing), "workflow_runs": listing[:min(len(listing), maximum)]})
}
