package gokernel

import (
	"runtime"
	"sync"
)

// parallel calls work for ranges that together are 0 to n-1, on all cores, and
// returns the error of the first range that has one.
func parallel(n int, work func(begin, end int) error) error {
	parts := max(1, min(runtime.GOMAXPROCS(0), n))
	errs := make([]error, parts)
	var group sync.WaitGroup
	for part := 1; part < parts; part++ {
		group.Go(func() { errs[part] = work(part*n/parts, (part+1)*n/parts) })
	}
	errs[0] = work(0, n/parts)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// serial is parallel on one core.
func serial(n int, work func(begin, end int) error) error { return work(0, n) }
