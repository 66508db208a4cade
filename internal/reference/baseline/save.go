package baseline

import "github.com/accelgate/accelgate/internal/atomicfile"

// Save writes the file to path, all of it or nothing: a reader, a crash or a
// full disk never meets half a baseline. It creates missing folders. Of two
// writers at once, the last one wins.
func Save(path string, f *File) error {
	data, err := Marshal(f)
	if err != nil {
		return err
	}
	return atomicfile.Elsewhere(atomicfile.Write(path, data), "--baseline")
}
