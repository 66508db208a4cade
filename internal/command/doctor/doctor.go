// Package doctor looks at everything that a gate rests on, the host, its container
// engine, the repository, the workflow and GitHub, and says of each what is wrong and how
// to mend it. It changes nothing. What it reads is hostile: names are printed escaped.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Status describes how one thing is.
type Status string

// The states, the worst first.
const (
	Error   Status = "error"   // a gate cannot work with this
	Warning Status = "warning" // a gate works, and is noisier or weaker than it could be
	Unknown Status = "unknown" // not looked at; the text says why
	OK      Status = "ok"
)

// Finding is what was found of one thing.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // what to do or to type; "" only if Status is OK
}

// Options are what Look takes from the command.
type Options struct {
	Dir     string // a folder of the repository
	Root    string // where the folders proc and sys are; "" is "/"
	GOOS    string
	Environ []string
	Worker  worker.Worker // runs git and the vendors' tools
	Now     func() time.Time
	Version string // of accelgate
	Config  string // the configuration of the command line
	Typed   bool   // the command line names it
	// Host finds out what this host is, with warnings; it is asked once, before Check.
	Host func(ctx context.Context, config string) (bench.Host, []string, error)
	// Check reads a configuration, and returns what it has, or what is wrong with it.
	Check func(context.Context, Configuration) (Checked, error)
	// GitHub is nil without a token, or where Token says what is wrong with it.
	GitHub *github.Client
	Token  error
	Repo   string // owner/name; "" to take that of the remote origin
	Server string // address of GitHub's pages, such as https://github.com
	Job    bool   // this process is a job of GitHub Actions
}

// look is one examination.
type look struct {
	Options
	host   bench.Host
	parsed []workflow
	unread []error // files that are no workflows
	calls  []call  // of our workflows and actions by the repository's own
	remote github.Repo
	// elsewhere is the host of the remote origin if it is not the server.
	elsewhere string
	findings  []Finding
}

// Look examines everything, in the order of the findings. An error means that ctx is
// done.
func Look(ctx context.Context, o Options) ([]Finding, error) {
	l := &look{Options: o}
	l.atRoot(ctx)
	l.parse()
	for _, step := range []func(context.Context){
		l.devices, l.settings, l.governor, l.load, l.counters, l.containers,
		l.git, l.configuration, l.workflows,
		l.access,
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step(ctx)
	}
	return l.findings, ctx.Err()
}

// Worst returns the worst status.
func Worst(findings []Finding) Status {
	for _, s := range []Status{Error, Warning, Unknown} {
		if slices.ContainsFunc(findings, func(f Finding) bool { return f.Status == s }) {
			return s
		}
	}
	return OK
}

// limit bounds a text that may quote programs and files.
const limit = 400

func (l *look) add(check string, status Status, what, fix string) {
	l.findings = append(l.findings, Finding{check, status, text.Line(what, limit), text.Line(fix, limit)})
}

func (l *look) ok(check, format string, args ...any) {
	l.add(check, OK, fmt.Sprintf(format, args...), "")
}

// output returns what a program prints, and false where it is absent or fails.
func (l *look) output(ctx context.Context, args ...string) (string, bool) {
	response, err := l.Worker.Do(ctx, worker.Request{Args: args, Dir: l.Dir, Timeout: 10 * time.Second})
	return string(response.Stdout), err == nil && response.OK()
}

// has reports whether the host has an accelerator of a vendor.
func (l *look) has(vendor string) bool {
	return slices.ContainsFunc(l.host.Accelerators, func(a bench.Accelerator) bool { return a.Vendor == vendor })
}

// label compares the label of the host, which a user may have given, with its hardware.
func (l *look) label() {
	named, known := device.FromLabel(l.host.Label)
	if !known {
		return
	}
	stands := ""
	switch {
	case named.OS != l.host.OS:
		stands = fmt.Sprintf("%s, and this is %s", named.OS, l.host.OS)
	case len(named.Accelerators) > 0 && !l.has(named.Accelerators[0].Vendor):
		stands = fmt.Sprintf("an accelerator of %s, and none is found here", named.Accelerators[0].Vendor)
	default:
		return
	}
	l.add("label", Error, fmt.Sprintf("%s stands for %s", text.Quote(l.host.Label, 60), stands),
		"install the driver with the vendor's tool, or type accelgate doctor --host-label "+device.Derived(l.host.Fingerprint))
}

// devices shows what this host is.
func (l *look) devices(ctx context.Context) {
	host, warnings, err := l.Host(ctx, l.configurations()[0].Path)
	if err != nil {
		before, fix := cut(err.Error())
		l.add("devices", Error, before, fix)
		return
	}
	l.host = host
	l.label()
	for _, w := range warnings {
		before, fix := cut(w)
		l.add("devices", Warning, before, fix)
	}
	if len(host.Accelerators) == 0 {
		l.ok("devices", "host %s: no accelerator, %s", host.Label, text.Quote(host.CPU, limit))
		return
	}
	l.ok("devices", "host %s: %s, the first %s", host.Label, text.Plural(len(host.Accelerators), "accelerator"),
		text.Quote(host.Accelerators[0].Model, limit))
	if host.Driver == "" {
		l.add("driver", Unknown, "the driver's version is unknown, so that a change of it is not noticed",
			"install the vendor's tool, such as nvidia-smi, amd-smi or npu-smi")
		return
	}
	l.ok("driver", "%s", host.Driver)
}
