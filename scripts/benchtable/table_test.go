package main

import (
	"strings"
	"testing"
)

const output = `goos: linux
cpu: Intel(R) Xeon(R) Processor @ 2.10GHz
BenchmarkPersistent/paired-2         	    1000	    191003 ns/op	        29.34 bare-us	        63.39 ours-us	        92.73 persistent-us
BenchmarkWatch/many-2                	       6	 481142896 ns/op	         4.942 added-%	        11.50 added-ms/run
BenchmarkOther-2                     	       6	 481142896 ns/op
PASS
`

func TestTable(t *testing.T) {
	measured, processor, err := read(strings.NewReader(output))
	const want = `| work | floor or peer in the same run | floor | measured |
|---|---|--:|--:|
| a request to a persistent process | its pipes alone | 0.0293 ms | 0.0927 ms |
| watch on the host, added to 50 cells that do nothing | - | - | 11.5 ms |
`
	if got := table(measured); err != nil || processor != "Intel(R) Xeon(R) Processor @ 2.10GHz" || got != want {
		t.Errorf("%q, %v\n%s", processor, err, got)
	}
	if _, _, err := read(strings.NewReader(output + "--- FAIL: BenchmarkStart\n")); err == nil {
		t.Error("a benchmark that failed is no error")
	}
}

func TestReplace(t *testing.T) {
	if got, err := replace("a\n"+begin+"old\n"+end+"b\n", "new\n"); err != nil || got != "a\n"+begin+"new\n"+end+"b\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := replace("a\n", "new\n"); err == nil {
		t.Error("a page without the lines is no error")
	}
}
