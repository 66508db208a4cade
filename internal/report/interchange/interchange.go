// Package interchange writes verdicts for other programs: one file a format. It decides
// nothing: what fails in a document is what package gate let block.
//
// Names of cells and messages come from package report as single printable lines; each
// format escapes what has a meaning in it.
package interchange

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/report"
)

// docs describes the verdicts.
const docs = "https://github.com/accelgate/accelgate/blob/main/docs/verdicts.md"

// title names what a finding is about: "linux-cuda CELL METRIC".
func title(f report.Finding) string {
	return strings.Join(strings.Fields(f.Host+" "+f.Cell+" "+f.Metric), " ")
}

// reference is the path of the configuration as a relative reference, or as a file URI
// where the path is absolute; "" if there is no configuration.
func reference(config string) string {
	if config == "" {
		return ""
	}
	u := url.URL{Path: filepath.ToSlash(filepath.Clean(config))}
	if filepath.IsAbs(config) {
		u.Scheme, u.Path = "file", "/"+strings.TrimPrefix(u.Path, "/")
	}
	return u.String()
}
