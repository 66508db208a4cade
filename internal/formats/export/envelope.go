package export

import (
	"path/filepath"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/inferencebench"
)

// Envelope writes one result of a run as an envelope of InferenceBench into a folder,
// and returns its path: prefix, and the first digits of its content's hash.
func Envelope(run *bench.Run, r *bench.Result, folder, prefix string) (path string, err error) {
	one := *run
	one.Results, one.Unselected, one.LeftOut, one.Shards = []bench.Result{*r}, nil, nil, nil
	data, err := inferencebench.FromRun(&one, inferencebench.Fields{})
	if err != nil {
		return "", err
	}
	hash, err := inferencebench.ContentHash(data)
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, prefix+hash[:12]+".json")
	return path, atomicfile.Write(path, data)
}
