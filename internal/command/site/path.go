package site

import "github.com/accelgate/accelgate/internal/bench"

// CellPath returns the path of a cell's page below the root of the dashboard, with
// slashes on every system; "" for a host whose label is none. Cells may have any name.
func CellPath(host, cell string) string {
	if bench.CheckLabel(host) != nil {
		return ""
	}
	return folder(host) + "cell/" + slug(cell) + ".html"
}

func folder(host string) string { return "host/" + host + "/" }
