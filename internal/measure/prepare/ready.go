package prepare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/worker"
)

const (
	readyEvery = 50 * time.Millisecond
	readyTry   = 5 * time.Second // bounds one look
)

// errEnded says that a service ended while it was waited for.
var errEnded = errors.New("it ended")

// ready waits until the service shows that it is up. The error says what the last look found that
// had time to find something.
func (s *Stage) ready(ctx context.Context, r *config.Ready, ended <-chan struct{}) error {
	within := cmp.Or(r.Within, defaultReady)
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var found error
	for {
		began := s.Now()
		err := s.look(bounded, r)
		select {
		case <-ended:
			return errEnded
		default:
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case bounded.Err() != nil && s.Now().Sub(began) < min(readyTry, within/2): // it was cut short
			return fmt.Errorf("not within %v: %w", within, cmp.Or(found, err))
		case bounded.Err() != nil:
			return fmt.Errorf("not within %v: %w", within, err)
		}
		found = err
		select {
		case <-ended:
			return errEnded
		case <-bounded.Done():
		case <-time.After(readyEvery):
		}
	}
}

// look looks once.
func (s *Stage) look(ctx context.Context, r *config.Ready) error {
	ctx, cancel := context.WithTimeout(ctx, readyTry)
	defer cancel()
	switch {
	case r.HTTP != "":
		return get(ctx, r.HTTP)
	case r.TCP != "":
		return dial(ctx, r.TCP)
	}
	response, err := s.Worker.Do(ctx, worker.Request{Args: r.Command, Dir: s.Dir, Timeout: readyTry})
	if err == nil && !response.OK() {
		err = fmt.Errorf("%s: %s", quoted(r.Command), response.Reason())
	}
	return err
}

// client asks a service directly: a proxy may answer for it, and a redirect may lead elsewhere.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func get(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // some servers log an error where nothing is read
	if response.StatusCode < 200 || response.StatusCode > 399 {
		return fmt.Errorf("GET %s: %s", url, response.Status)
	}
	return nil
}

func dial(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// listenedOn is the address that a service must listen on to be ready; "" where a command
// says whether it is.
func listenedOn(r *config.Ready) string {
	u, err := url.Parse(r.HTTP)
	switch {
	case r.TCP != "":
		return r.TCP
	case r.HTTP == "" || err != nil:
		return ""
	case u.Port() != "":
		return u.Host
	case u.Scheme == "https":
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

// occupied reports whether a program listens on an address.
func occupied(ctx context.Context, address string) bool {
	if address == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, readyTry)
	defer cancel()
	return dial(ctx, address) == nil
}
