package prepare

import (
	"context"
	"errors"
	"fmt"

	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// service is a program that runs beside the cells of a suite.
type service struct {
	stop     context.CancelFunc
	ended    chan struct{}   // closed when nothing of it is left
	response worker.Response // set once ended is closed
	err      error
}

// startService starts the service and waits until it is ready. The reason is "" if it is.
func (s *Stage) startService(ctx context.Context) (reason string, err error) {
	of := s.Around.Service
	if address := listenedOn(&of.Ready); occupied(ctx, address) {
		return fmt.Sprintf(
			"a program listens on %s already, and would be measured in place of the service: end it, or choose another port",
			address,
		), nil
	}
	// It serves cells of later rounds as well, whose context is another one.
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	run := &service{stop: stop, ended: make(chan struct{})}
	request := worker.Request{Args: of.Command, Dir: s.path(of.Dir), Env: suite.Entries(of.Env), Transcript: maxLog}
	go func() { // end waits for it
		defer close(run.ended)
		run.response, run.err = s.Worker.Do(inner, request)
	}()
	s.service = run
	why := s.ready(ctx, &of.Ready, run.ended)
	if why == nil {
		return "", nil
	}
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	early := run.hasEnded()
	if err := s.endService("service-failed"); err != nil {
		return "", err
	}
	return s.unready(run, why, early), nil
}

// unready returns why a service did not come up.
func (s *Stage) unready(run *service, why error, early bool) string {
	reason := fmt.Sprintf("the service %s is not ready: ", quoted(s.Around.Service.Command))
	if early {
		reason += "it ended: " + endOf(run.response)
	} else {
		reason += text.OneLine(s.Hide(why.Error()))
	}
	if line := s.meaningful(run.response); line != "" {
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
	run.stop()
	<-run.ended
	s.keep(logOf(s.Suite, log), run.response.Transcript)
	if run.err != nil && !errors.Is(run.err, context.Canceled) {
		return run.err
	}
	return nil
}

// hasEnded reports whether the service ended of its own accord.
func (r *service) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}
