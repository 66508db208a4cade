package download

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// remote is a model or dataset on a hub, or a file at a URL.
type remote struct {
	endpoint *url.URL
	api      string   // "models" or "datasets"
	id       []string // its one or two parts
	address  *url.URL // of the file; nil on a hub
}

func (c *Client) remote(id string) (remote, error) {
	endpoint, err := url.Parse(cmp.Or(c.Endpoint, defaultEndpoint))
	if err != nil || endpoint.Host == "" || endpoint.User != nil || endpoint.RawQuery != "" || endpoint.Fragment != "" ||
		endpoint.Scheme != "https" && endpoint.Scheme != "http" {
		return remote{}, errors.New("the endpoint is not a plain address: write https://HOST")
	}
	if c.Token != "" && endpoint.Scheme == "http" && !isLoopback(endpoint.Hostname()) {
		return remote{}, fmt.Errorf("a token for %.80q would go over the network in the clear: write https, or give no token",
			endpoint.Host)
	}
	r := remote{endpoint: endpoint.JoinPath("/"), api: "models"} // without a path, what is joined would have no slash in front
	id, ok := strings.CutPrefix(id, datasets)
	if ok {
		r.api = "datasets"
	}
	r.id = strings.Split(id, "/")
	return r, nil
}

// infoURL asks for sizes and digests as well (blobs=true). A revision's slashes
// are escaped: they are no part of the path.
func (r remote) infoURL(revision string) *url.URL {
	u := r.endpoint.JoinPath("api", r.api).JoinPath(r.id...).JoinPath("revision", url.PathEscape(revision))
	u.RawQuery = "blobs=true"
	return u
}

func (r remote) fileURL(commit, name string) *url.URL {
	if r.address != nil {
		return r.address
	}
	u := r.endpoint
	if r.api == "datasets" {
		u = u.JoinPath(r.api)
	}
	u = u.JoinPath(r.id...).JoinPath("resolve", commit)
	for part := range strings.SplitSeq(name, "/") {
		u = u.JoinPath(url.PathEscape(part))
	}
	return u
}
