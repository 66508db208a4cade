// Package workers holds the kernel workers that are shipped as text: two in
// Python, one for functions on torch tensors and one on numpy arrays, and one in
// C. They use the protocol fib-worker/1 of package kernel. This package
// starts nothing: it says what to write where and which commands to run.
//
//	dir/fib_worker_torch.py   python3 >= 3.9 with torch: python, triton, tilelang and cutedsl, on any device of torch;
//	                          cpp, cuda and hip, which fib_native.py has fib_compile.py build and keeps
//	dir/fib_worker_numpy.py   python3 >= 3.9 with numpy: python, on the CPU
//	dir/fib_worker.c          a C compiler: c and cpp, on the CPU; see fib_dlpack.h for what a function gets
//
// # What they make of the protocol
//
// The device of hello is one of torch ("cuda:1", "mps", "cpu"); empty is the
// best there is. A solution in Python may have its arguments in any order if
// they have the definition's names. Its outputs must be exactly torch.Tensor or
// numpy.ndarray: no subclass, nothing lazy, on the worker's device. numpy has
// no bfloat16: such inputs are float32 that hold its values, and outputs that
// the definition declares so are rounded. The numpy and C workers call with
// what they hold; the torch worker with [Trusted] calls a reference with
// float32 in place of float16 where torch cannot compute that on the CPU, and
// rounds its results. A solution in C takes its outputs as arguments and is
// compiled from all sources of its folder.
//
// A compiled solution is called by position. Its library is kept in
// [harness.Build].Cache by all that decides it, under a lock, and checked by its
// digest before it is loaded. A compiler, package or header that is missing is a
// failure of kind unsupported that says how to get it.
//
// Timers are "event" and "wall" on CUDA and "wall" elsewhere. Events are of the
// current stream: what a function does on others is waited for, not timed.
//
// # What they cannot hide
//
// Descriptors 1 and 2 are the log before anything foreign is imported or
// loaded, and the protocol goes over private ones, which a child that
// os.fork makes does not keep. Code in the same process finds these
// descriptors nevertheless, as it finds and replaces the clock: whoever reads
// the replies must use nothing but the numbers of its own requests, its own
// clock and the saved outputs.
package workers

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed text
var text embed.FS

// The programs, by their file names.
const (
	Torch = "fib_worker_torch.py"
	Numpy = "fib_worker_numpy.py"
	C     = "fib_worker.c"
)

// Trusted is the argument that a worker of [Torch] gets which runs references
// and no solutions.
const Trusted = "--trusted"

// Text returns a file that [Write] writes.
func Text(name string) (string, error) {
	b, err := text.ReadFile("text/" + name)
	if err != nil {
		return "", fmt.Errorf("no worker has a file %.100q: use one of %v", name, names())
	}
	return string(b), nil
}

// Write writes all workers and what they include into a folder that exists. No
// user but its owner should be able to write there.
func Write(dir string) error {
	for _, name := range names() {
		content, err := Text(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("write the kernel workers: %w: name a folder for temporary files that has space", err)
		}
	}
	return nil
}

// Python returns the command that starts [Torch] or [Numpy] from a folder that
// Write has filled.
func Python(interpreter, dir, program string) []string {
	return []string{interpreter, filepath.Join(dir, program)}
}

// Compile returns the command that makes the worker of [C] from a folder that
// Write has filled, and the program that it makes. The program must stay in that
// folder, because solutions include a header from there.
func Compile(compiler, dir string) (command []string, program string) {
	program = filepath.Join(dir, "fib_worker")
	return []string{compiler, "-std=c11", "-O2", "-o", program, filepath.Join(dir, C), "-ldl", "-lm", "-lpthread"}, program
}

func names() []string {
	entries, err := fs.ReadDir(text, "text")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
