package measure

import (
	"context"

	"github.com/accelgate/accelgate/internal/device"
)

// PlanFor plans for the host of a label, without asking this machine where the
// label says what it is.
func (e *Env) PlanFor(ctx context.Context, o *Options) (*Plan, error) {
	o.NoFetch = true
	simulated, ok := device.FromLabel(o.HostLabel)
	if !ok {
		return e.Plan(ctx, o)
	}
	p, err := e.NewPlan(o)
	if err != nil {
		return nil, err
	}
	p.Host = simulated
	if err := p.Open(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}
