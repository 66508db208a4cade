package cases

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/optrace"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// ReadTables returns what recorded tables of msmodeling's simulator say of cases, in
// their order. The table of the case NAME is NAME.txt in the folder. A table that cannot
// be read fails its case.
func ReadTables(list []*casefile.Case, folder string) []bench.Result {
	results := make([]bench.Result, len(list))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				results[i] = fromTable(list[i], folder)
			}
		})
	}
	readers.Wait()
	return results
}

// fromTable is what the table of a case says.
func fromTable(one *casefile.Case, folder string) bench.Result {
	cell := Cell(one.Name)
	data, err := readTable(filepath.Join(folder, one.Name+".txt"))
	if err != nil {
		return bench.Result{Cell: cell, Outcome: bench.Failed, Cause: bench.CauseInput, Reason: err.Error()}
	}
	p, err := optrace.Formats["msmodeling-table"](data)
	if err != nil {
		result := bench.Result{Cell: cell}
		suite.Unusable(&result, err)
		return result
	}
	return Result(cell, p)
}

// maxTable bounds a recorded table; real ones have 10 KB.
const maxTable = 16 << 20

func readTable(path string) ([]byte, error) {
	data, err := suite.ReadResult(path, path, maxTable)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no table %s: record what the simulator prints for the case there", path)
	case err != nil:
		return nil, fmt.Errorf("%w: record the table again", err)
	}
	return data, nil
}
