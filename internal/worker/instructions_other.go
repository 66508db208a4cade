//go:build !linux

package worker

// NoInstructions returns why the instructions of processes are not counted here.
func NoInstructions() string { return "only Linux counts them" }

func countInstructions(start func() error) (count func() int64, err error) {
	return func() int64 { return 0 }, start()
}
