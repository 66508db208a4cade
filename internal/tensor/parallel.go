package tensor

import (
	"runtime"
	"sync"
)

const grain = 1 << 15 // elements that are worth a goroutine

// parallel calls work for parts that together are [0, n), on all cores, and
// returns when all are done. All parts but the last are multiples of a block.
func parallel(n int, work func(begin, end int)) {
	blocks := (n + blockLen - 1) / blockLen
	parallelBy(blocks, blockLen, func(begin, end int) {
		work(begin*blockLen, min(end*blockLen, n))
	})
}

// parallelBy is parallel for n items of size elements each.
func parallelBy(n, size int, work func(begin, end int)) {
	parts := min(runtime.GOMAXPROCS(0), n, 1+n*size/grain)
	var group sync.WaitGroup
	for part := 1; part < parts; part++ {
		group.Go(func() { work(part*n/parts, (part+1)*n/parts) })
	}
	if parts > 0 {
		work(0, n/parts)
	}
	group.Wait()
}
