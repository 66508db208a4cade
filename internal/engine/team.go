package engine

import "sync"

// team is the largest number of goroutines that work on one operator. It is at
// least 1.
type team int

// worthForking is the number of multiply-adds below which starting goroutines
// takes longer than it saves: some ten microseconds' worth. Decoding a small
// model stays below it and runs on one thread.
const worthForking = 1 << 17

// alone reports whether split would call f once. Callers that must not allocate
// ask first: making f does.
func (t team) alone(n, work int) bool { return min(int(t), n) <= 1 || work < worthForking }

// split divides the numbers 0 to n-1 into ranges [lo, hi), one for each worker,
// calls f for each range, and returns when all calls have. Worker counts the
// calls from 0 and is below the size of the team. Work is the number of
// multiply-adds in all; little work is not divided.
func (t team) split(n, work int, f func(worker, lo, hi int)) {
	if t.alone(n, work) {
		f(0, 0, n)
		return
	}
	parts := min(int(t), n)
	var group sync.WaitGroup
	for i := 1; i < parts; i++ {
		group.Go(func() { f(i, i*n/parts, (i+1)*n/parts) })
	}
	f(0, 0, n/parts)
	group.Wait()
}
