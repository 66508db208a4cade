package casefile

import "io/fs"

// LoadListed reads one file as [Load] does that found e in its folder.
func LoadListed(path string, e fs.DirEntry) error {
	if _, problems := new(reader).load(path, e); len(problems) > 0 {
		return problems
	}
	return nil
}
