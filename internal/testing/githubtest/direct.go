package githubtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// errReset is what a client sees of a connection that ended.
var errReset = errors.New("connection reset by peer")

// Direct returns a transport that leads to the server without a network, so
// that tests can run in a bubble of testing/synctest, whose time passes only
// while everybody waits. Every host is the server.
func (s *Server) Direct() http.RoundTripper { return direct{s} }

type direct struct{ server *Server }

// RoundTrip serves a request after the time that it takes to arrive. A request
// that is given up earlier has no effect.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	there, back := d.server.latency()
	if err := pause(r.Context(), there); err != nil {
		return nil, err
	}
	request := r.Clone(r.Context())
	request.Host = r.URL.Host
	answer := d.server.handle(request, body)
	if err := pause(r.Context(), back); err != nil {
		return nil, err
	}
	if answer.reset {
		return nil, errReset
	}
	response := &http.Response{
		StatusCode: answer.status, Status: strconv.Itoa(answer.status) + " " + http.StatusText(answer.status), Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: answer.header.Clone(), Request: r, ContentLength: int64(len(answer.body)),
	}
	if response.Header == nil {
		response.Header = http.Header{}
	}
	response.Body = io.NopCloser(answer.reader(r.Context()))
	return response, nil
}

func (s *Server) latency() (there, back time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chaos.latency(), s.chaos.latency()
}

// reader returns the body as the client gets to see it.
func (d delivery) reader(ctx context.Context) io.Reader {
	first, rest := d.body[:len(d.body)/2], d.body[len(d.body)/2:]
	switch {
	case d.cut:
		return io.MultiReader(bytes.NewReader(first), readFunc(func([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }))
	case d.pause > 0:
		waited := readFunc(func([]byte) (int, error) {
			if err := d.sleep(ctx, d.pause); err != nil {
				return 0, err
			}
			return 0, io.EOF
		})
		return io.MultiReader(bytes.NewReader(first), waited, bytes.NewReader(rest))
	case d.drops > 0:
		body := bytes.NewReader(d.body)
		return readFunc(func(p []byte) (int, error) {
			if err := d.sleep(ctx, d.drops); err != nil || len(p) == 0 {
				return 0, err
			}
			return body.Read(p[:1])
		})
	}
	return bytes.NewReader(d.body)
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// send delivers over a network. It ends the connection by a panic that
// net/http knows where the client shall not get everything.
func (d delivery) send(w http.ResponseWriter, r *http.Request) {
	if d.reset {
		panic(http.ErrAbortHandler)
	}
	for name, values := range d.header {
		w.Header()[name] = values
	}
	if d.body != nil {
		w.Header().Set("Content-Length", strconv.Itoa(len(d.body)))
	}
	w.WriteHeader(d.status)
	if _, err := io.Copy(flushing{w}, d.reader(r.Context())); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// flushing sends what it gets at once, so that half a body arrives.
type flushing struct{ http.ResponseWriter }

func (w flushing) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a recorder cannot
	return n, err
}
