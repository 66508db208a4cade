package download

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxRedirects is more than the hub needs: a renamed model, and the content
// delivery network.
const maxRedirects = 5

var errStalled = errors.New("the server sends nothing any more")

// info asks the hub for the listing of a revision.
func (f *fetch) info(ctx context.Context, revision string) (info Info, err error) {
	if f.address != nil {
		return f.described(ctx)
	}
	err = f.retry(ctx, func() (bool, error) {
		var text []byte
		if text, err = f.text(ctx, f.infoURL(revision)); err != nil {
			return false, err
		}
		info, err = ParseInfo(text)
		return false, err
	})
	return info, err
}

func (f *fetch) text(ctx context.Context, u *url.URL) ([]byte, error) {
	w := f.watch(ctx)
	defer w.stop()
	response, err := f.send(w, u, http.Header{}, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, f.refusal(response)
	}
	text, err := io.ReadAll(io.LimitReader(watched{response.Body, w}, MaxInfo+1))
	if err != nil {
		return nil, w.broken(err, u)
	}
	return text, nil
}

// send asks for u and follows redirects, which http.Client would with less
// care: it sends a token on to subdomains, and from https to http. check is
// called with the header of each answer of the hub's own.
func (f *fetch) send(w *watch, u *url.URL, header http.Header, check func(http.Header) error) (*http.Response, error) {
	client := http.Client{}
	if f.HTTP != nil {
		client = *f.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for range maxRedirects + 1 {
		response, err := client.Do(f.request(w, u, header))
		if err != nil {
			return nil, w.broken(err, u)
		}
		location := response.Header.Get("Location")
		redirect := response.StatusCode/100 == 3 && location != ""
		if check != nil && f.isHome(u) && response.StatusCode < 400 {
			err = check(response.Header)
		}
		if err == nil && redirect {
			u, err = f.follow(w, u, location)
		}
		if err == nil && !redirect {
			return response, nil
		}
		response.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%q redirects more than %d times: check the endpoint", u.Host, maxRedirects)
}

func (f *fetch) request(w *watch, u *url.URL, header http.Header) *http.Request {
	r := (&http.Request{Method: http.MethodGet, URL: u, Header: header.Clone(), Host: u.Host}).WithContext(w.Context)
	r.Header.Set("User-Agent", "accelgate")
	r.Header.Set("Accept-Encoding", "identity") // ranges and digests are of the file's own bytes
	if f.Token != "" && f.isHome(u) {
		r.Header.Set("Authorization", "Bearer "+f.Token)
	}
	return r
}

// isHome reports whether u is of the endpoint's own origin.
func (f *fetch) isHome(u *url.URL) bool {
	return u.Scheme == f.endpoint.Scheme && strings.EqualFold(u.Hostname(), f.endpoint.Hostname()) && port(u) == port(f.endpoint)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// follow is where a redirect leads. From another machine's address none leads to this
// machine or into its private network: who serves a file must not make accelgate ask
// what only this host can reach. An endpoint that is private itself may.
func (f *fetch) follow(ctx context.Context, from *url.URL, location string) (*url.URL, error) {
	to, err := from.Parse(location)
	switch {
	case err != nil || to.Host == "" || to.User != nil || to.Scheme != "https" && to.Scheme != "http":
		return nil, fmt.Errorf("%q redirects to an invalid address: check the endpoint", from.Host)
	case from.Scheme == "https" && to.Scheme != "https":
		return nil, fmt.Errorf("%q redirects from https to http at %.80q: check the endpoint", from.Host, to.Host)
	case !strings.EqualFold(from.Hostname(), to.Hostname()) && isPrivate(ctx, to.Hostname()) && !isPrivate(ctx, f.endpoint.Hostname()):
		return nil, fmt.Errorf("%q redirects to the private address %.80q: name that one, if it is meant", from.Host, to.Host)
	}
	return to, nil
}

// refusal is the error of an answer that is no content. 401 is also what the
// hub says of models that do not exist (huggingface_hub, utils/_http.py:
// hf_raise_for_status). No text of the server is repeated.
func (f *fetch) refusal(r *http.Response) error {
	host, code := r.Request.URL.Host, r.StatusCode
	err := fmt.Errorf("%q answers %d %s", host, code, http.StatusText(code))
	advice := "check the endpoint"
	if f.address != nil {
		advice = "check the URL, which must need no login"
	}
	switch {
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		return again{fmt.Errorf("%w: try again later", err), retryAfter(r.Header)}
	case !f.isHome(r.Request.URL): // an address that was signed for a time
		return again{fmt.Errorf("%w: try again later", err), 0}
	case f.address != nil:
	case r.Header.Get("X-Error-Code") == "GatedRepo":
		advice = "accept the model's terms on the hub, and give a token of that account"
	case r.Header.Get("X-Error-Code") == "RevisionNotFound":
		advice = fmt.Sprintf("the model has no revision %.80q, name another", f.revision)
	case (code == http.StatusUnauthorized || code == http.StatusForbidden) && f.Token == "":
		advice = "check the id, and give a token if the model is private or gated"
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		advice = "check the id, and that the token may read the model"
	case code == http.StatusNotFound:
		advice = "check id and revision"
	}
	return fmt.Errorf("%w: %s", err, advice)
}

// watch is the context of one request. It ends when nothing arrives for as long
// as the client's Stall.
type watch struct {
	context.Context
	stall  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

func (f *fetch) watch(ctx context.Context) *watch {
	w := &watch{stall: f.Stall}
	if w.stall <= 0 {
		w.stall = defaultStall
	}
	w.Context, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(w.stall, func() { w.cancel(errStalled) })
	return w
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// broken is the error of a request without its address, which may hold a
// signature. It is tried again, unless the server is not the one it should be.
func (w *watch) broken(err error, u *url.URL) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	if errors.Is(context.Cause(w), errStalled) {
		err = errStalled
	}
	err = fmt.Errorf("ask %q: %w: check the network", u.Host, err)
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return err
	}
	return again{err, 0}
}

// watched passes each read to the watch.
type watched struct {
	io.Reader
	*watch
}

func (r watched) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.timer.Reset(r.stall)
	}
	return n, err
}
