package site

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/text"
)

// marker names the file by which a folder of pages is recognized.
const marker = "accelgate-site.json"

// written are the names in a folder of pages. Other names are files of users, such as CNAME or .git.
var written = []string{
	marker,
	".nojekyll",
	"badge.json",
	"badge.svg",
	"compare.html",
	"feed.xml",
	"host",
	"index.html",
	"site.js",
	"style.css",
}

// check refuses addresses that are none, and folders that hold something else than pages.
func (o *Options) check() error {
	for flag, address := range map[string]string{"--repository": o.Repository, "--url": o.URL} {
		if address != "" && !safeURL.MatchString(address) {
			return exit.Usagef("%s: %.100q is not an address: write it as https://github.com/owner/name", flag, address)
		}
	}
	entries, err := os.ReadDir(o.Out)
	if err != nil && !os.IsNotExist(err) {
		return exit.Usagef("--out: %w: name a folder", err)
	}
	for _, e := range entries {
		if !slices.Contains(written, e.Name()) {
			return exit.Usagef("--out: %s holds %s, which accelgate site did not write: name a new folder", o.Out, text.OneLine(e.Name()))
		}
	}
	if _, err := os.Stat(filepath.Join(o.Out, marker)); len(entries) > 0 && err != nil {
		return exit.Usagef("--out: %s holds files that accelgate site did not write: name a new folder", o.Out)
	}
	here, hereErr := os.Stat(".")
	if out, err := os.Stat(o.Out); err == nil && hereErr == nil && os.SameFile(here, out) {
		return exit.Usagef("--out: %s is the working folder, which cannot be replaced: name one in it, as in 'accelgate site --out public'",
			o.Out)
	}
	return nil
}

// behindLinks is the folder that a path leads to, so that a link stays a link.
func behindLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
