package github

import (
	"bytes"
	"errors"
	"net/http"
	"path"
	"strings"
)

// errHollow marks an answer of success that holds nothing, as proxies and half of a
// failure give it. Read as what was asked for it would mean that there is no comment, no
// label, and no change.
var errHollow = errors.New("GitHub answers success with an empty document")

// hollow reports whether a successful answer in JSON is "{}", "null" or nothing at all.
// Starting jobs again is answered so.
func hollow(r *http.Request, response *http.Response, body []byte) bool {
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated ||
		strings.HasPrefix(path.Base(r.URL.Path), "rerun") {
		return false
	}
	switch string(bytes.Join(bytes.Fields(body), nil)) {
	case "", "null", "{}":
		return true
	}
	return false
}
