package config

import "fmt"

// Level is an entry of the levels of the policy. Later entries win over earlier ones.
type Level struct {
	// Event is the occasion that the entry is for; "" is every one.
	Event string `yaml:"event" oneof:"pull_request merge_group push tag schedule workflow_dispatch repository_dispatch workflow_run desk"`
	// Label is the label of the pull request that the entry is for, without regard to
	// case; "" needs none.
	Label string `yaml:"label"`
	Level string `yaml:"level,required" oneof:"advisory required"`
}

// SuiteLevel is an entry of the levels of a suite. It wins over those of the policy.
type SuiteLevel struct {
	// When selects the cells of the entry, as that of a [Limit] does.
	When  map[string]string `yaml:"when"`
	Event string            `yaml:"event" oneof:"pull_request merge_group push tag schedule workflow_dispatch repository_dispatch workflow_run desk"`
	Label string            `yaml:"label"`
	Level string            `yaml:"level,required" oneof:"advisory required"`
}

// events are the values of [Level.Event].
var events = []string{
	"pull_request", "merge_group", "push", "tag", "schedule", "workflow_dispatch", "repository_dispatch", "workflow_run", "desk",
}

// levels complains about levels that cannot be meant.
func (d *decoder) levels(s *Suite) {
	for i, l := range s.Levels {
		if l.When != nil && len(l.When) == 0 {
			d.errs = append(d.errs, s.Errorf(fmt.Sprintf("levels[%d].when", i), emptyWhen))
		}
	}
}
