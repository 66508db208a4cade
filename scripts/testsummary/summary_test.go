package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

const events = `{"Action":"run","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestGood"}
{"Action":"output","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestGood","Output":"not shown\n"}
{"Action":"pass","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestGood","Elapsed":0.5}
{"Action":"output","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestBad","Output":"    a_test.go:3: got 1\n"}
{"Action":"fail","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestBad","Elapsed":1.5}
{"Action":"output","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestTool","Output":"    a_test.go:9: podman is absent: install it\n"}
{"Action":"output","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestTool","Output":"--- SKIP: TestTool (0.00s)\n"}
{"Action":"skip","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestTool"}
{"Action":"output","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestLong","Output":"    a_test.go:9: in make thorough\n"}
{"Action":"skip","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestLong"}
{"Action":"output","Package":"github.com/accelgate/accelgate/internal/a","Test":"TestHangs","Output":"    waiting\n"}
{"Action":"fail","Package":"github.com/accelgate/accelgate/internal/a","Elapsed":2}
{"Action":"build-output","ImportPath":"b","Output":"b.go:1: syntax error\n"}
{"Action":"fail","Package":"github.com/accelgate/accelgate/internal/b","Elapsed":0,"FailedBuild":"b"}
not an event
`

func TestSummary(t *testing.T) {
	var out bytes.Buffer
	s := newSummary(&out)
	s.read(strings.NewReader(events))
	s.print(3 * time.Second)
	for _, want := range []string{
		"    a_test.go:3: got 1\n", "FAIL  internal/a ", "cut off: internal/a TestHangs\n    waiting\n", "b.go:1: syntax error\n", "FAIL  internal/b", "not an event\n",
		"2 packages in 3 s; 1 tests of other tiers left out\n", "slowest tests: internal/a TestBad 1.5 s, internal/a TestGood 0.5 s, ",
		"skipped: internal/a TestTool: podman is absent: install it\n", "\n1 passed, 3 failed, 1 skipped\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "not shown") {
		t.Error("output of a test that passed is shown")
	}
	if got, _ := json.Marshal(s.passedTop); string(got) != `["internal/a TestGood"]` {
		t.Errorf("passed: %s", got)
	}
}

// TestDefined finds this very test.
func TestDefined(t *testing.T) {
	tests, err := testsOf("summary_test.go")
	if err != nil || strings.Join(tests, " ") != "TestSummary TestDefined" {
		t.Errorf("%q, %v", tests, err)
	}
}
