package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/tensor"
)

// Build has a function made ready. Its failure is of kind [Compile] where the
// sources are wrong and [Unsupported] where this worker cannot build them.
func (s *Session) Build(ctx context.Context, b Build) (reply BuildReply, err error) {
	_, err = s.call(ctx, "build", s.limits.Build, b, &reply)
	return reply, err
}

// Setup has a function prepared, and returns how long that took by our clock.
func (s *Session) Setup(ctx context.Context, q Setup) (time.Duration, error) {
	return s.call(ctx, "setup", s.limits.Build, q, nil)
}

// Tensor has a tensor made.
func (s *Session) Tensor(ctx context.Context, t Tensor) (reply TensorReply, err error) {
	n := tensor.Tensor{Shape: t.Shape}.Elements()
	if n < 0 || !t.DType.Valid() {
		return reply, fmt.Errorf("tensor %q: no tensor of %s can have the shape %v", t.Name, t.DType, t.Shape)
	}
	if _, err = s.call(ctx, "tensor", s.limits.Load, t, &reply); err == nil && t.Shape != nil && reply.Bytes != int64(t.DType.Size(n)) {
		err = s.blame("tensor", fmt.Errorf("%d bytes for %s of shape %v", reply.Bytes, t.DType, t.Shape))
	}
	return reply, err
}

// Run has a function called, once unless the request says otherwise.
func (s *Session) Run(ctx context.Context, r Run) (reply RunReply, err error) {
	if _, err = s.call(ctx, "run", s.limits.Run, r, &reply); err == nil {
		err = s.blame("run", reply.check(r.Out))
	}
	return reply, err
}

// Save has tensors saved as they are.
func (s *Session) Save(ctx context.Context, r Save) (reply RunReply, err error) {
	if _, err = s.call(ctx, "save", s.limits.Load, r, &reply); err == nil {
		err = s.blame("save", reply.check(r.Names))
	}
	return reply, err
}

// Time has a function timed. Wall is how long the request took by our clock,
// the worker's loop and the way there and back included.
func (s *Session) Time(ctx context.Context, t Time) (reply TimeReply, wall time.Duration, err error) {
	if wall, err = s.call(ctx, "time", s.limits.Time, t, &reply); err == nil {
		err = s.blame("time", reply.check(t.Iterations))
	}
	return reply, wall, err
}

// Check asks whether the device still computes. Its failure is of kind
// [Corrupted] where it does not, and the worker is ended.
func (s *Session) Check(ctx context.Context) error {
	var reply CheckReply
	if _, err := s.call(ctx, "check", s.limits.Load, nil, &reply); err != nil {
		return err
	}
	switch reply.Health {
	case "ok":
		return nil
	case "corrupted":
		c := conversation{Session: s, op: "check"}
		return c.kill(Corrupted, "the device no longer computes for this process: start a new worker")
	}
	return s.blame("check", fmt.Errorf("a health of %.40q", reply.Health))
}

// Release frees tensors.
func (s *Session) Release(ctx context.Context, names ...string) error {
	_, err := s.call(ctx, "release", s.limits.Load, Release{Names: names}, nil)
	return err
}
