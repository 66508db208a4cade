package endpoint

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// running is a server that was started for one measurement.
type running struct {
	*worker.Background
	url  string
	args []string
	died bool // it had ended before the load had
}

// start starts the server. Whether it is ready, its answers show.
func (s *Suite) start(ctx context.Context, d bench.Device, a *alive) (*running, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	args, err := s.serverCommand(port)
	if err != nil {
		return nil, err
	}
	env := suite.Entries(s.body.Server.Env)
	if s.env.Pin != nil {
		env = append(env, s.env.Pin(d)...)
	}
	req := suite.Watch(ctx, worker.Request{Args: args, Dir: s.env.Dir, Env: env, Unset: s.ownKey()})
	if a != nil {
		req.Heard = a.at
	}
	return &running{Background: worker.Begin(ctx, s.env.Worker, req), url: "http://127.0.0.1:" + port, args: args}, nil
}

// ownKey keeps the client's key from the server, which server.env may hand over.
func (s *inputs) ownKey() []string {
	if s.body.APIKeyEnv == "" {
		return nil
	}
	return []string{s.body.APIKeyEnv}
}

// serverCommand fills in the server's command.
func (s *Suite) serverCommand(port string) ([]string, error) {
	args, err := suite.FillAll(s.body.Server.Command, func(name string) (string, error) {
		switch name {
		case "accelgate":
			return s.env.Executable, nil
		case "model":
			return s.body.Model, nil
		case "port":
			return port, nil
		}
		return "", fmt.Errorf("unknown placeholder {%s}: use {accelgate}, {model} or {port}", name)
	})
	if err != nil {
		return nil, err
	}
	if s.embedded() {
		args = append(args, s.env.EngineArgs...)
	}
	return args, nil
}

// programs implements Programs of [suite.Plan].
func (s *Suite) programs() []suite.Program {
	args, err := s.serverCommand("0")
	if err != nil || len(args) == 0 {
		return nil // of a server that runs already
	}
	return []suite.Program{{Name: args[0], Env: suite.Entries(s.body.Server.Env)}}
}

// embedded reports whether the embedded engine serves.
func (s *Suite) embedded() bool {
	c := s.body.Server.Command
	return len(c) > 2 && c[0] == "{accelgate}" && c[1] == "engine" && c[2] == "serve"
}

// freePort returns a port that nothing listens on now.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w: see that this host has a loopback interface", err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}
