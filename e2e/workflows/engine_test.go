package workflows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"regexp"
	"sync"
	"time"
)

// inFront starts a proxy that spares podman what costs most of its processor time.
func inFront(podman, socket string) (string, error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return "", err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "podman" },
		FlushInterval: -1,
		Transport: &spared{answers: map[string][]byte{}, to: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", podman)
		}}},
	}
	go func() { _ = http.Serve(listener, proxy) }() // until this process ends
	return "unix://" + socket, nil
}

// static are the paths at which an engine describes itself and this host: act asks twice for each container, and each time podman lets
// dpkg search for the packages of its helpers, for half a second of processor time.
var static = regexp.MustCompile(`/(info|version)$`)

// waits is the path at which act waits for the end of a container. podman 4 asks its database meanwhile without any pause.
var waits = regexp.MustCompile(`^(.*/containers/[0-9a-f]+/)wait$`)

// spared answers static paths as they were answered at first, and lets act wait for containers that have ended.
type spared struct {
	to      http.RoundTripper
	mu      sync.Mutex
	answers map[string][]byte // by path
}

func (s *spared) RoundTrip(r *http.Request) (*http.Response, error) {
	if m := waits.FindStringSubmatch(r.URL.Path); m != nil {
		for running, err := s.running(r, m[1]+"json"); running || err != nil; running, err = s.running(r, m[1]+"json") {
			if err != nil {
				return nil, err
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	if r.Method != http.MethodGet || !static.MatchString(r.URL.Path) {
		return s.to.RoundTrip(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers[r.URL.Path] == nil {
		answer, err := s.get(r, r.URL.Path)
		if err != nil {
			return nil, err
		}
		s.answers[r.URL.Path] = answer
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(s.answers[r.URL.Path]))}, nil
}

func (s *spared) running(r *http.Request, path string) (bool, error) {
	text, err := s.get(r, path)
	if err != nil {
		return false, err
	}
	var container struct{ State struct{ Running bool } }
	err = json.Unmarshal(text, &container)
	return container.State.Running, err
}

// get asks podman for a path on behalf of a request.
func (s *spared) get(r *http.Request, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://podman"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.to.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("podman answers %s with %s", path, resp.Status)
	}
	return io.ReadAll(resp.Body)
}
