package casefile_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestDroppedComplaintsCostNothing counts what is allocated for a file whose
// every operator lacks its keys. To say where a part stands takes time that
// grows with the file, so that a file of 1 MiB took minutes while that was done
// for complaints that are dropped.
func TestDroppedComplaintsCostNothing(t *testing.T) { // not parallel: it counts
	const n = 3000
	text := []byte(`{"name": "c", "description": "d", "operators": [` + strings.Repeat("{},", n) + "{}]}")
	var err error
	allocated := testing.AllocsPerRun(1, func() { _, err = casefile.Parse("c.json", text) })
	checkProblems(t, err)
	if allocated > n {
		t.Errorf("%v allocations for %d parts", allocated, n)
	}
}

// TestLargestHostileFiles are of the largest size and wrong in every part. They
// take a second each, and minutes where the work for a part grows with the file.
func TestLargestHostileFiles(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine reads")
	}
	t.Parallel()
	const own = `{"name": "c", "description": "d", `
	for _, f := range [][3]string{
		{own + `"operators": [`, `{},`, `{}]}`},
		{own + `"operators": [`, `{"name": 1, "name": "", "num_calls": 1.5},`, `{}]}`},
		{own + `"compilation_config": [`, `"a",`, `1]}`},
		{own + `"user_input": {`, `"a": 1,`, `"b": 1}}`},
		{own + `"type": "command", "command": ["a"], "env": {`, `"a": 1,`, `"b": ""}}`},
	} {
		text := f[0] + strings.Repeat(f[1], (1<<20-len(f[0])-len(f[2]))/len(f[1])) + f[2]
		_, err := casefile.Parse("c.json", []byte(text))
		checkProblems(t, err)
	}
}
