package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats/sources"
)

// Answers are what a user decides. The zero value takes everything that was found.
type Answers struct {
	Hosts []string // labels of the runners that measure; empty for this host's
}

// Ask asks at most four questions: a line answers each, and an empty one takes the default
// in brackets. It changes the suites as the answers say.
func (f *Found) Ask(ctx context.Context, in io.Reader, out io.Writer, a Answers) (Answers, error) {
	lines := bufio.NewReader(io.LimitReader(in, 1<<20))
	ask := func(question, otherwise string) (string, error) {
		fmt.Fprintf(out, "%s [%s]: ", question, otherwise)
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return strings.TrimSpace(line), err
	}
	if err := f.chooseSuites(ask); err != nil {
		return a, err
	}
	if err := f.chooseModel(ask); err != nil {
		return a, err
	}
	if err := f.chooseServer(ctx, ask); err != nil {
		return a, err
	}
	if len(a.Hosts) > 0 {
		return a, nil
	}
	labels, err := ask("Labels of the self-hosted runners that measure, separated by commas", f.Host.Label)
	if err != nil {
		return a, err
	}
	a.Hosts, err = Hosts(labels)
	return a, err
}

// Hosts reads labels that are separated by commas.
func Hosts(labels string) (hosts []string, err error) {
	for label := range strings.SplitSeq(labels, ",") {
		if label = strings.TrimSpace(label); label == "" || slices.Contains(hosts, label) {
			continue
		}
		if err := bench.CheckLabel(label); err != nil {
			return nil, exit.AsUsage(err)
		}
		hosts = append(hosts, label)
	}
	return hosts, nil
}

type question func(question, otherwise string) (string, error)

// chooseSuites asks which suites to measure, if there is a choice.
func (f *Found) chooseSuites(ask question) error {
	if len(f.Suites) < 2 {
		return nil
	}
	var names []string
	for _, s := range f.Suites {
		names = append(names, s.Name)
	}
	answer, err := ask("Suites to gate, of "+strings.Join(names, ", "), "all")
	if err != nil || answer == "" || answer == "all" {
		return err
	}
	var chosen []Suite
	for name := range strings.FieldsFuncSeq(answer, func(c rune) bool { return c == ',' || c == ' ' }) {
		i := slices.Index(names, name)
		if i < 0 {
			return exit.Usagef("no suite %.80q was found: answer with some of %s, or with all", name, strings.Join(names, ", "))
		}
		chosen = append(chosen, f.Suites[i])
	}
	f.Suites = chosen
	return nil
}

// chooseModel asks for the model of the first suite that lacks one.
func (f *Found) chooseModel(ask question) error {
	i := slices.IndexFunc(f.Suites, func(s Suite) bool { return s.Model != nil })
	if i < 0 {
		return nil
	}
	s := &f.Suites[i]
	answer, err := ask(s.Model.Question, "later")
	if err != nil || answer == "" || answer == "later" {
		return err
	}
	if !sources.Usable(answer) || strings.ContainsFunc(answer, func(c rune) bool { return c < ' ' }) {
		return exit.Usagef(
			"the model %.80q has a character that a command cannot hold: answer with a path or a name without braces and backslashes",
			answer)
	}
	name := s.Name
	*s = s.Model.With(answer)
	s.Name = name
	return nil
}

// chooseServer asks for a server if nothing else was found.
func (f *Found) chooseServer(ctx context.Context, ask question) error {
	if len(f.Suites) > 0 {
		return nil
	}
	answer, err := ask("Address of an OpenAI-compatible server to measure", "none")
	if err != nil || answer == "" || answer == "none" {
		return err
	}
	f.look.Server = answer
	f.Suites, err = f.look.server(ctx)
	return err
}
