package harness

import (
	"context"
	"os"
)

// Once has a program built, the first inputs of a case made, and the function called
// once, for tools that watch a worker. What it computes is not looked at. The last
// launches on the device are those of the call. A worker that does something wrong is
// a *[Failure].
func Once(ctx context.Context, c Case, program Program, dir string) error {
	p := &trialProtocol{Case: c, Settings: Settings{Dir: dir}.withDefaults(), Measurement: new(Measurement)}
	s, err := p.side("profile", program, new(Timing))
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	p.reference = s // whose inputs its own are compared with
	reply, err := s.Build(ctx, s.build)
	if err == nil {
		err = s.offered(reply)
	}
	if err != nil {
		return err
	}
	if _, err := p.setUp(ctx, s); err != nil {
		return err
	}
	if err := p.load(ctx, s, 0, 0); err != nil {
		return err
	}
	if err := p.poison(ctx, s, 0); err != nil {
		return err
	}
	slot := p.slot(0)
	_, err = s.Run(ctx, Run{ID: s.build.ID, Args: slot.Args, Out: slot.Out})
	return err
}
