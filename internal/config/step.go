package config

import (
	"fmt"
	"maps"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Step is a command that accelgate runs beside the measured ones. A list stands for the
// command alone.
type Step struct {
	Command []string          `yaml:"command,list"` // no shell interprets it
	Dir     string            `yaml:"dir"`          // below the configuration's folder; "" for that itself
	Env     map[string]string `yaml:"env"`
	Timeout time.Duration     `yaml:"timeout"` // 0 for the built-in one
}

// Build is a step that builds a checkout.
type Build struct {
	Step
	// Inputs are globs of the files that the build reads. Nil means every file of the commit.
	Inputs []string `yaml:"inputs"`
	// Outputs are globs of the files that the build writes. A build without any is never reused.
	Outputs []string `yaml:"outputs"`
	// Position is where the build stands in its file.
	Position Position `json:"-"`
	// OnlyPairs means that a checkout is built only where accelgate makes the base itself: a
	// suite's build was written as a list.
	OnlyPairs bool
}

// Pair holds a step before something and the step after it, at least one of the two.
type Pair struct {
	Setup    *Step `yaml:"setup"`
	Teardown *Step `yaml:"teardown"`
}

// Service is a program that runs while a suite's cells are measured.
type Service struct {
	Command []string          `yaml:"command,required"`
	Dir     string            `yaml:"dir"`
	Env     map[string]string `yaml:"env"`
	Ready   Ready             `yaml:"ready,required"`
}

// Ready describes how a service shows that it is up. Exactly one of HTTP, TCP and Command is set.
type Ready struct {
	HTTP    string        `yaml:"http"`    // URL that answers a GET with a status from 200 to 399
	TCP     string        `yaml:"tcp"`     // HOST:PORT that accepts a connection
	Command []string      `yaml:"command"` // that exits with 0
	Within  time.Duration `yaml:"within"`  // 0 for the built-in bound
}

// Around is what surrounds the cells of a suite. A nil field is nothing.
type Around struct {
	Setup    *Step    `yaml:"setup"`     // before the first cell
	Teardown *Step    `yaml:"teardown"`  // after the last cell
	Each     *Pair    `yaml:"each"`      // around each measurement of a cell
	PerModel *Pair    `yaml:"per_model"` // around the cells of one model, on each device
	Service  *Service `yaml:"service"`
}

// Empty reports whether nothing surrounds the cells.
func (a *Around) Empty() bool {
	return a.Setup == nil && a.Teardown == nil && a.Each == nil && a.PerModel == nil && a.Service == nil
}

// TearsDown reports whether a step follows the cells.
func (a *Around) TearsDown() bool {
	return a.Teardown != nil || a.PerModel != nil && a.PerModel.Teardown != nil
}

// Steps are the steps around the cells, by their keys.
func (a *Around) Steps() map[string]*Step {
	all := map[string]*Step{"setup": a.Setup, "teardown": a.Teardown}
	for key, pair := range map[string]*Pair{"each": a.Each, "per_model": a.PerModel} {
		if pair != nil {
			all[key+".setup"], all[key+".teardown"] = pair.Setup, pair.Teardown
		}
	}
	maps.DeleteFunc(all, func(_ string, step *Step) bool { return step == nil })
	return all
}

// around complains about steps that cannot be meant. The nodes are those of the suite.
func (d *decoder) around(s *Suite, nodes map[string]ast.Node) {
	if s.Build != nil {
		_, list := d.resolve(nodes["build"]).(*ast.SequenceNode)
		s.Build.OnlyPairs = list
		d.build(s.Build, nodes["build"], s.path+".build")
	}
	for key, pair := range map[string]*Pair{"each": s.Each, "per_model": s.PerModel} {
		if pair != nil && pair.Setup == nil && pair.Teardown == nil {
			d.errs = append(d.errs, s.Errorf(key, "has no step: add setup or teardown, or remove it"))
		}
	}
	for key, step := range s.Steps() {
		if why, hint := step.wrong(); why != "" {
			d.errs = append(d.errs, s.Errorf(key, "%s: %s", why, hint))
		}
	}
	if s.Service != nil {
		if key, why := s.Service.wrong(); why != "" {
			d.errs = append(d.errs, s.Errorf("service"+key, "%s", why))
		}
	}
}

// build complains about a build whose node is at path.
func (d *decoder) build(b *Build, n ast.Node, path string) {
	at := start(n)
	b.Position = Position{d.doc.name, at.Line, at.Column}
	why, hint := b.wrong()
	switch {
	case why != "":
	case b.Inputs != nil && len(b.Inputs) == 0:
		why, hint = "inputs is empty", "list globs of the files that it reads, or remove inputs"
	case b.Outputs != nil && len(b.Outputs) == 0:
		why, hint = "outputs is empty", "list globs of the files that it writes, or remove outputs"
	case len(b.Inputs) > 0 && len(b.Outputs) == 0:
		why, hint = "has inputs and no outputs, so it is never reused", "add outputs, the files that it writes"
	default:
		return
	}
	d.fail(at, path+": "+why, hint)
}

// wrong returns what is wrong with a step; "" if nothing is.
func (s *Step) wrong() (why, hint string) {
	switch {
	case len(s.Command) == 0 || s.Command[0] == "":
		return "has no command", "write a program and its arguments, as in [make, all]"
	case s.Timeout < 0:
		return fmt.Sprintf("timeout is %v", s.Timeout), "write a positive duration such as 10m"
	}
	return "", ""
}

// wrong returns which key of a service is wrong, and why.
func (s *Service) wrong() (key, why string) {
	kinds := 0
	for _, given := range []bool{s.Ready.HTTP != "", s.Ready.TCP != "", len(s.Ready.Command) > 0} {
		if given {
			kinds++
		}
	}
	switch {
	case len(s.Command) == 0 || s.Command[0] == "":
		return ".command", "is empty: write a program and its arguments"
	case kinds != 1:
		return ".ready", fmt.Sprintf("has %d conditions: write one of http, tcp and command", kinds)
	case s.Ready.HTTP != "" && !httpURL(s.Ready.HTTP):
		return ".ready.http", fmt.Sprintf("%.80q is not a URL: write one such as http://127.0.0.1:8080/health", s.Ready.HTTP)
	case s.Ready.TCP != "" && !hostPort(s.Ready.TCP):
		return ".ready.tcp", fmt.Sprintf("%.80q is not an address: write one such as 127.0.0.1:8080", s.Ready.TCP)
	case s.Ready.Within < 0:
		return ".ready.within", fmt.Sprintf("is %v: write a positive duration such as 60s", s.Ready.Within)
	}
	return "", ""
}
