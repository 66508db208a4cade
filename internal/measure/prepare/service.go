package prepare

import (
	"context"
	"fmt"

	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// startService starts the service and waits until it is ready. The reason is "" if it is.
func (s *Stage) startService(ctx context.Context) (reason string, err error) {
	of := s.Around.Service
	if address := listenedOn(&of.Ready); occupied(ctx, address) {
		return fmt.Sprintf("a program listens on %s already, and would be measured in place of the service: end it, or choose another port",
			address), nil
	}
	// It serves cells of later rounds as well, whose context is another one.
	request := worker.Request{Args: of.Command, Dir: s.path(of.Dir), Env: suite.Entries(of.Env), Transcript: maxLog}
	run := worker.Begin(context.WithoutCancel(ctx), s.Worker, request)
	s.service = run
	why := s.ready(ctx, &of.Ready, run.Ended)
	if why == nil {
		return "", nil
	}
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	early := run.HasEnded()
	if err := s.endService("service-failed"); err != nil {
		return "", err
	}
	return s.unready(run, why, early), nil
}

// unready returns why a service did not come up.
func (s *Stage) unready(run *worker.Background, why error, early bool) string {
	reason := fmt.Sprintf("the service %s is not ready: ", quoted(s.Around.Service.Command))
	if early {
		reason += "it ended: " + endOf(run.Response)
	} else {
		reason += text.OneLine(s.Hide(why.Error()))
	}
	if line := s.meaningful(run.Response); line != "" {
		reason += ": " + line
	}
	return reason + "; see " + s.logPath("service-failed")
}

// endOf is how a service ended of its own accord.
func endOf(r worker.Response) string {
	if r.OK() {
		return "exit code 0"
	}
	return r.Reason()
}

// endService stops the service, if one runs, and keeps its log.
func (s *Stage) endService(log string) error {
	run := s.service
	if run == nil {
		return nil
	}
	s.service = nil
	err := run.End()
	s.keep(logOf(s.Suite, log), run.Response.Transcript)
	return err
}
