package action

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/worker"
)

// deviceNodes are what programs open to reach accelerators.
var deviceNodes = []string{"/dev/nvidia*", "/dev/kfd", "/dev/dri/renderD*", "/dev/davinci*", "/dev/accel/*", "/dev/vfio/*"}

// dropRoot makes a process of root, as that of a container action is, one of the
// owner of the workspace, or of the account that run-as names. Root can read the
// token of its parent in /proc whatever that does, so measured programs never
// run as root beside a token where it can be helped.
func (a *action) dropRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	to := a.in.runAs
	if to == nil {
		owner, err := worker.Owner(a.Getenv("GITHUB_WORKSPACE"))
		if err != nil || owner.UID == 0 {
			a.warnOfRoot()
			return nil
		}
		to = &owner
	}
	if err := worker.Become(*to); err != nil {
		return fmt.Errorf("%w: set the input run-as to another account, or use native/action.yml", err)
	}
	for _, node := range existing(deviceNodes) {
		if !worker.Accessible(node) {
			a.annotate(a.gh.Warning, "device not accessible",
				fmt.Sprintf("account %s may not open %s: add the group of the device to the input run-as "+
					"(UID:GID,GROUP), or measure with native/action.yml in a job without a token", to, node))
		}
	}
	return nil
}

// warnOfRoot warns that measured programs can read the token.
func (a *action) warnOfRoot() {
	if a.measuresHere() && a.in.options.Secret != "" {
		a.annotate(a.gh.Warning, "measured as root",
			"the workspace belongs to root, so measured programs run as root and can read the token: "+
				"set the input run-as to an account, or measure in a job without a token, as the shipped workflow does")
	}
}

// measuresHere reports whether the step starts measured programs.
func (a *action) measuresHere() bool {
	return a.in.runs == "" && a.event.Run == nil && a.event.Comment == nil
}

// existing lists the files that patterns match.
func existing(patterns []string) (paths []string) {
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // the patterns are well-formed
		paths = append(paths, found...)
	}
	return paths
}
