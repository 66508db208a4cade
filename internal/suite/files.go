package suite

import "path/filepath"

// Within returns the paths of files that a configuration in dir names, without empty
// names.
func Within(dir string, names ...string) (paths []string) {
	for _, name := range names {
		switch {
		case name == "":
		case filepath.IsAbs(name):
			paths = append(paths, name)
		default:
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}
