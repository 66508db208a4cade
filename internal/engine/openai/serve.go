package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Ending is how a server stops. Answers that are under way have Grace to complete and are
// then told to break off, for which they have Farewell.
type Ending struct {
	Grace, Farewell time.Duration
	BreakOff        func()
}

// Serve answers on a listener, which it closes, until the context ends. Nothing of the server
// runs when it returns, unless Farewell was too short.
func Serve(ctx context.Context, web *http.Server, listener net.Listener, e Ending) error {
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(listener) }()
	var failure error
	select {
	case err := <-ended:
		failure = fmt.Errorf("serve: %w: start the server again", err)
	case <-ctx.Done():
		defer func() { <-ended }()
	}
	timer := time.AfterFunc(e.Grace, e.BreakOff)
	defer timer.Stop()
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.Grace+e.Farewell)
	defer cancel()
	if web.Shutdown(limit) == nil {
		return failure
	}
	return errors.Join(failure, web.Close())
}
