package hfhub

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// remote is a model on a hub.
type remote struct {
	endpoint *url.URL
	id       []string // its one or two parts
}

func (c *Client) remote(id string) (remote, error) {
	endpoint, err := url.Parse(cmp.Or(c.Endpoint, defaultEndpoint))
	if err != nil || endpoint.Host == "" || endpoint.User != nil || endpoint.RawQuery != "" || endpoint.Fragment != "" ||
		endpoint.Scheme != "https" && endpoint.Scheme != "http" {
		return remote{}, errors.New("the endpoint is not a plain address: write https://HOST")
	}
	if c.Token != "" && endpoint.Scheme == "http" && !isLoopback(endpoint.Hostname()) {
		return remote{}, fmt.Errorf("a token for %.80q would go over the network in the clear: write https, or give no token", endpoint.Host)
	}
	return remote{endpoint.JoinPath("/"), strings.Split(id, "/")}, nil // without a path, what is joined would have no slash in front
}

// infoURL asks for sizes and digests as well (blobs=true). A revision's slashes
// are escaped: they are no part of the path.
func (r remote) infoURL(revision string) *url.URL {
	u := r.endpoint.JoinPath("api", "models").JoinPath(r.id...).JoinPath("revision", url.PathEscape(revision))
	u.RawQuery = "blobs=true"
	return u
}

func (r remote) fileURL(commit, name string) *url.URL {
	u := r.endpoint.JoinPath(r.id...).JoinPath("resolve", commit)
	for part := range strings.SplitSeq(name, "/") {
		u = u.JoinPath(url.PathEscape(part))
	}
	return u
}
