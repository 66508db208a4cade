package text_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/text"
)

func TestMeaningful(t *testing.T) {
	for _, test := range []struct{ name, log, want string }{
		{"a compiler of Go", "# example.org/geo [example.org/geo.test]\n./geo_test.go:3:33: undefined: x\n./geo_test.go:9:1: syntax error\nFAIL\texample.org/geo [build failed]\nFAIL", "./geo_test.go:3:33: undefined: x"},
		{"a compiler of C", "bench.cc:1:2: warning: unused x\nbench.cc: In function 'int main()':\nbench.cc:5:10: error: 'x' was not declared\nmake: *** [Makefile:2: bench] Error 1", "bench.cc:5:10: error: 'x' was not declared"},
		{"cargo", "   Compiling a v0.1.0\nerror[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:3:5\nerror: could not compile `a` (bench) due to 1 previous error", "error[E0425]: cannot find value `x` in this scope"},
		{"a failed benchmark of Go", "goos: linux\n--- FAIL: BenchmarkBroken\n    geo_test.go:6: 3 != 4\nFAIL\nexit status 1\nFAIL\texample.org/geo\t0.2s", "geo_test.go:6: 3 != 4"},
		{"a benchmark with a fault in its name", "BenchmarkFails\n    geo_test.go:6: 3 != 4\n--- FAIL: BenchmarkFails\nBenchmarkError-2 \t 10\t 25 ns/op\nFAIL", "geo_test.go:6: 3 != 4"},
		{"a panic", "BenchmarkPanics\npanic: boom\n\ngoroutine 12 [running]:\nexample.org/geo.BenchmarkPanics(0x39)\n\t/repo/geo_test.go:8 +0x45\nexit status 2\nFAIL\texample.org/geo\t0.1s", "panic: boom"},
		{"pytest", "tests/test_a.py:3: NameError\n==== short test summary info ====\nFAILED tests/test_a.py::test_b - NameError: name 'x' is not defined\n==== 1 failed in 0.02s ====", "FAILED tests/test_a.py::test_b - NameError: name 'x' is not defined"},
		{"pytest that collects nothing", "ERROR tests/test_a.py - SyntaxError: invalid syntax\n!!!! Interrupted: 1 error during collection !!!!\n==== 1 error in 0.1s ====", "ERROR tests/test_a.py - SyntaxError: invalid syntax"},
		{"a compiler of CUDA", "kernel.cu(3): warning #177-D: x was declared\nkernel.cu(12): error: identifier \"x\" is undefined\n\n1 error detected in the compilation of \"kernel.cu\".", `kernel.cu(12): error: identifier "x" is undefined`},
		{"a linker", "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x5): undefined reference to `x'\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:2: a] Error 1", "a.c:(.text+0x5): undefined reference to `x'"},
		{"a compiler of Java", "A.java:3: error: cannot find symbol\n    x();\n    ^\n1 error", "A.java:3: error: cannot find symbol"},
		{"cmake", "CMake Error at CMakeLists.txt:3 (find_package):\n  Could not find a package configuration file provided by \"X\".\n\n-- Configuring incomplete, errors occurred!", `Could not find a package configuration file provided by "X".`},
		{"pytest that cannot import", "tests/test_a.py:1: in <module>\n    import x\nE   ModuleNotFoundError: No module named 'x'\n==== short test summary info ====\nERROR tests/test_a.py\n!!!! Interrupted: 1 error during collection !!!!", "E   ModuleNotFoundError: No module named 'x'"},
		{"a program", "loading\ncannot open model.gguf\n[1] done", "cannot open model.gguf"},
		{"words alone", "loading\nFAIL\n12345\n", "loading"},
		{"nothing", "\n123\n", ""},
	} {
		if got := text.Meaningful(strings.Split(test.log, "\n")); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
