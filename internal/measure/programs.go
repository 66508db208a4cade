package measure

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// Absent returns the programs of the configuration that no folder of PATH has, each with what
// starts it. Those with a folder, which a build may make, are not looked up.
func (s *Session) Absent(ctx context.Context) []string {
	l, p := lookup{s: s}, s.Plan
	if p.File.Build != nil {
		l.step(ctx, "build", &p.File.Build.Step)
	}
	for i := range p.File.Suites {
		l.around(ctx, &p.File.Suites[i])
	}
	for _, one := range p.Suites {
		if programs := one.Plan.Programs; programs != nil {
			for _, program := range programs() {
				l.find("suite "+text.Quote(one.Name, 60), program)
			}
		}
	}
	return l.absent
}

type lookup struct {
	s      *Session
	absent []string
}

func (l *lookup) find(by string, program suite.Program) {
	entry := fmt.Sprintf("%s, which %s starts", text.Quote(program.Name, 100), by)
	if _, err := worker.Find(program.Name, slices.Concat(l.s.Plan.environ, program.Env)); err != nil && !slices.Contains(l.absent, entry) {
		l.absent = append(l.absent, entry)
	}
}

// around looks up what surrounds the cells of a suite.
func (l *lookup) around(ctx context.Context, s *config.Suite) {
	by := " of suite " + text.Quote(s.Name, 60)
	if s.Build != nil {
		l.step(ctx, "build"+by, &s.Build.Step)
	}
	steps := s.Steps()
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		l.step(ctx, name+by, steps[name])
	}
	if s.Service != nil {
		l.step(ctx, "service"+by, &config.Step{Command: s.Service.Command, Env: s.Service.Env})
	}
}

func (l *lookup) step(ctx context.Context, by string, step *config.Step) {
	if len(step.Command) == 0 {
		return
	}
	program := suite.Program{Name: step.Command[0], Env: suite.Entries(step.Env)}
	l.find(by, program)
	if program.Name = l.byShell(ctx, step.Command, program.Env); program.Name != "" {
		l.find(by, program)
	}
}

// firstWord finds the first program in a text for a shell.
var firstWord = lazyregexp.New(`^\s*([A-Za-z0-9_.+-]+)(\s|$)`)

// byShell returns the program that sh -c TEXT starts first; "" where the shell has the word, or finds it.
func (l *lookup) byShell(ctx context.Context, command, env []string) string {
	if len(command) < 3 || command[0] != "sh" && command[0] != "bash" || command[1] != "-c" {
		return ""
	}
	m := firstWord.FindStringSubmatch(command[2])
	if m == nil {
		return ""
	}
	request := worker.Request{Args: []string{command[0], "-c", `command -v "$1"`, command[0], m[1]},
		Dir: l.s.Plan.File.Dir, Env: env, Timeout: 10 * time.Second}
	if response, err := l.s.worker.Do(ctx, request); err != nil || response.OK() {
		return ""
	}
	return m[1]
}
