package githubtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Proxy leads to another implementation of GitHub's API and checks every
// request and every response against GitHub's own description on the way. It
// is safe for concurrent use.
type Proxy struct {
	contract *contract
	upstream string

	mu         sync.Mutex
	requests   []Request
	violations []Violation
	between    func(Request)
	acting     bool
}

// Violation is a request or a response that breaks GitHub's description.
type Violation struct {
	Side      string // "request" or "response"
	Operation string // "issues/create-comment", or "" where there is none
	Status    int    // of the response, 0 for a request
	Reason    string // one line
}

// String returns the violation as tests print it.
func (v Violation) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s of %s %d: %s", v.Side, v.Operation, v.Status, v.Reason))
}

// NewProxy returns a proxy before the server at the address upstream, which has
// no path.
func NewProxy(upstream string) (*Proxy, error) {
	contract, err := loadContract()
	if err != nil {
		return nil, err
	}
	return &Proxy{contract: contract, upstream: strings.TrimRight(upstream, "/")}, nil
}

// Violations returns what broke GitHub's description so far, oldest first.
func (p *Proxy) Violations() []Violation {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.violations)
}

// Requests returns the log of the requests, oldest first, without logins.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Between makes act run before each request is passed on, as
// [Server.Between] does.
func (p *Proxy) Between(act func(next Request)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.between = act
}

// ServeHTTP passes a request on and its answer back.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	log := Request{Method: r.Method, Path: r.URL.RequestURI()}
	p.interrupt(log)
	if r.URL.Path == graphqlPath { // which the server behind may lack
		delivery{response: encode(notFound())}.send(w, r)
		return
	}
	exchange, err := p.contract.route(r, body)
	if err == nil {
		log.Operation = exchange.operation.OperationID
		err = exchange.checkRequest()
	}
	if err != nil {
		p.violate(Violation{Side: "request", Operation: log.Operation}, err)
	}
	answer, err := p.fetch(r, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	log.Status = answer.status
	p.mu.Lock()
	p.requests = append(p.requests, log)
	p.mu.Unlock()
	if exchange != nil {
		if err := exchange.checkResponse(answer); err != nil {
			p.violate(Violation{"response", log.Operation, answer.status, ""}, err)
		}
	}
	delivery{response: answer}.send(w, r)
}

// interrupt lets the second writer act, whose own requests call it no more.
func (p *Proxy) interrupt(next Request) {
	p.mu.Lock()
	act := p.between
	if p.acting || act == nil {
		p.mu.Unlock()
		return
	}
	p.acting = true
	p.mu.Unlock()
	act(next)
	p.mu.Lock()
	p.acting = false
	p.mu.Unlock()
}

func (p *Proxy) violate(v Violation, err error) {
	v.Reason = strings.ReplaceAll(err.Error(), "\n", "; ")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.violations = append(p.violations, v)
}

// passed are the headers of answers that clients of GitHub look at.
var passed = []string{"Content-Type", "Link", "Location", "Retry-After", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}

// fetch asks the server behind the proxy. Redirects are the client's.
func (p *Proxy) fetch(r *http.Request, body []byte) (response, error) {
	request, err := http.NewRequestWithContext(r.Context(), r.Method, p.upstream+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	request.Header = r.Header.Clone()
	request.Header.Del("Accept-Encoding") // the transport's own is undone by it
	got, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close()
	done := response{status: got.StatusCode, header: http.Header{}}
	for _, name := range passed {
		if values := got.Header.Values(name); values != nil {
			done.header[name] = values
		}
	}
	if done.body, err = io.ReadAll(io.LimitReader(got.Body, maxBody)); err != nil {
		return response{}, err
	}
	if len(done.body) == 0 {
		done.body = nil
	}
	return done, nil
}
