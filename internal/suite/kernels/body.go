package kernels

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
)

// body is the part of accelgate.yaml that belongs to this kind; docs/kernels.md
// describes it.
type body struct {
	Dataset string `yaml:"dataset"` // folder; "" is the one that ships with accelgate
	Config  string `yaml:"config"`  // FlashInfer-Bench's evaluation settings
	// Definitions, Solutions, Workloads and OpTypes are globs; empty is all.
	Definitions []string `yaml:"definitions"`
	OpTypes     []string `yaml:"op_types"`
	Solutions   []string `yaml:"solutions"`
	Workloads   []string `yaml:"workloads"`
	// MaxWorkloads bounds the workloads of each definition, the smallest first.
	MaxWorkloads int      `yaml:"max_workloads"`
	Reference    string   `yaml:"reference"` // auto, torch or go
	Python       string   `yaml:"python"`
	Compiler     string   `yaml:"cc"`
	Device       string   `yaml:"device"` // of torch: cpu, cuda:0; "" is the best there is
	Isolated     bool     `yaml:"isolated"`
	CUDAGraph    bool     `yaml:"cuda_graph"` // timed as evidence
	ColdCache    *bool    `yaml:"cold_cache"`
	MaxInputGiB  float64  `yaml:"max_input_gib"` // of all sets, in both workers
	Scratch      string   `yaml:"scratch"`       // folder for outputs, best in memory
	BuildCache   string   `yaml:"build_cache"`   // folder of compiled libraries; "" keeps them for one run
	Traces       string   `yaml:"traces"`        // dataset that traces are appended to; "" writes none
	Resume       bool     `yaml:"resume"`        // keep what its traces hold
	Profile      []string `yaml:"profile"`       // tools that watch what passed
	Timeouts     timeouts `yaml:"timeouts"`
	Repeats      int      `yaml:"repeats"`
	// Replay is the secret of an earlier measurement; zero draws a new one for each.
	Replay harness.Secret `yaml:"replay"`
	Flags  flags          `yaml:"flags"` // over the evaluation settings
}

type timeouts struct {
	Start time.Duration `yaml:"start"`
	Build time.Duration `yaml:"build"`
	Load  time.Duration `yaml:"load"`
	Run   time.Duration `yaml:"run"`
	Time  time.Duration `yaml:"time"`
	// Profile bounds the run of one tool of Profile.
	Profile time.Duration `yaml:"profile"`
}

// defaults is the body before any configuration is decoded over it.
func defaults() body {
	return body{Reference: "auto", Python: "python3", Compiler: "cc", MaxInputGiB: 24, Repeats: 1}
}

const (
	maxRepeats = 1000
	// minSilence is several times the second in which a worker is due to say that it is alive.
	minSilence = 5 * time.Second
)

func read(c *config.Suite) (*body, error) {
	b := defaults()
	if err := c.Decode(&b); err != nil {
		return nil, err
	}
	return &b, b.check(c)
}

func (b *body) check(c *config.Suite) error {
	switch {
	case b.Repeats < 1 || b.Repeats > maxRepeats:
		return c.Errorf("repeats", "is %d: use 1 to %d", b.Repeats, maxRepeats)
	case b.Reference != "auto" && b.Reference != "torch" && b.Reference != "go":
		return c.Errorf("reference", "unknown worker %q: write torch, go, or auto", b.Reference)
	case !(b.MaxInputGiB > 0):
		return c.Errorf("max_input_gib", "is %v: write how many GiB the inputs of one case may take, all sets in both workers",
			b.MaxInputGiB)
	case b.MaxWorkloads < 0:
		return c.Errorf("max_workloads", "is %d: write a number from 1 on, or leave it out for all", b.MaxWorkloads)
	case b.Resume && b.Traces == "":
		return c.Errorf("resume", "has nothing to go on from: set traces to the folder of the dataset")
	case c.NoOutput > 0 && c.NoOutput < minSilence:
		return c.Errorf("no_output", "is %v, and a worker says every second that it is alive: write at least %v", c.NoOutput, minSilence)
	}
	for i, tool := range b.Profile {
		if !slices.Contains(Profilers(), tool) {
			return c.Errorf(fmt.Sprintf("profile[%d]", i), "unknown tool %q: write %s", tool, strings.Join(Profilers(), " or "))
		}
	}
	for _, t := range []struct {
		path string
		d    time.Duration
	}{{"start", b.Timeouts.Start}, {"build", b.Timeouts.Build}, {"load", b.Timeouts.Load}, {"run", b.Timeouts.Run}, {"time",
		b.Timeouts.Time}, {"profile", b.Timeouts.Profile}} {
		if t.d < 0 {
			return c.Errorf("timeouts."+t.path, "is %v: write a positive duration such as 5m", t.d)
		}
	}
	return nil
}

func (b *body) limits() harness.Limits {
	t := b.Timeouts
	return harness.Limits{Start: t.Start, Build: t.Build, Load: t.Load, Run: t.Run, Time: t.Time}
}

func (s *Suite) resolve(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.env.Dir, name)
}

// wants reports whether a name is among globs; none want all.
func wants(globs []string, name string) bool { return len(globs) == 0 || matrix.GlobAny(globs, name) }
