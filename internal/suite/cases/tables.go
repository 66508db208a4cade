package cases

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/optrace"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/accelgate/accelgate/internal/text"
)

// ReadTables returns what recorded tables of msmodeling's simulator say of cases, in
// their order. The table of a case is ID.txt in the folder, with the id of its cell. A table that cannot
// be read fails its case. Cases with the performance model profiling are read as
// analytic ones if analytic is set, as the original did before groups.
func ReadTables(list []*casefile.Case, folder string, analytic bool) []bench.Result {
	results := make([]bench.Result, len(list))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				results[i] = fromTable(list[i], folder, analytic)
			}
		})
	}
	readers.Wait()
	return results
}

// fromTable is what the table of a case says.
func fromTable(one *casefile.Case, folder string, analytic bool) bench.Result {
	cell := CellOf(one)
	if one.Type == casefile.Grouped {
		return bench.Result{Cell: cell, Outcome: bench.Failed, Cause: bench.CauseInput, Reason: noCases}
	}
	model := casefile.Model(one.Type, one.UserInput)
	if analytic {
		model = casefile.Model(one.Type, nil)
	}
	data, err := readTable(folder, cell.ID()+".txt")
	if err != nil {
		return bench.Result{Cell: cell, Outcome: bench.Failed, Cause: bench.CauseInput, Reason: err.Error()}
	}
	p, err := optrace.Of("msmodeling-table", model)(data)
	if err != nil {
		result := bench.Result{Cell: cell}
		suite.Unusable(&result, err)
		return result
	}
	return Result(cell, p)
}

// maxTable bounds a recorded table; real ones have 10 KB.
const maxTable = 16 << 20

func readTable(folder, name string) ([]byte, error) {
	if strings.ContainsAny(name, `/\`) {
		return nil, fmt.Errorf("%s cannot be the name of a table: rename the case", text.Quote(name, 80))
	}
	path := filepath.Join(folder, name)
	data, err := suite.ReadResult(path, path, maxTable)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no table %s: record what the simulator prints for the case there", path)
	case err != nil:
		return nil, fmt.Errorf("%w: record the table again", err)
	}
	return data, nil
}
