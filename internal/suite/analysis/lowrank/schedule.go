package lowrank

import (
	"cmp"
	"context"
	"slices"
)

// need estimates the bytes that working on an item takes: three matrices of its
// size, the factors three times over, and the products of their vectors.
func (i Item) need() int64 {
	if i.Faults != nil {
		return 0
	}
	n, m := float64(i.Shape[0]), float64(i.Shape[1])
	k := min(n, m)
	return int64(min(8*(3*n*m+3*k*(n+m)+k*k), 1<<60))
}

// schedule calls work for each item, several at once, within the job's limits,
// the largest first, and returns when all that was begun is done.
func (j Job) schedule(ctx context.Context, items []Item, work func(i int)) error {
	queue := make([]int, len(items))
	for i := range queue {
		queue[i] = i
	}
	slices.SortStableFunc(queue, func(a, b int) int { return cmp.Compare(items[b].need(), items[a].need()) })
	done := make(chan int)
	running, used := 0, int64(0)
	for {
		for ctx.Err() == nil && len(queue) > 0 && running < j.Workers && (running == 0 || used+items[queue[0]].need() <= j.Memory) {
			i := queue[0]
			queue = queue[1:]
			running++
			used += items[i].need()
			go func() {
				work(i)
				done <- i
			}()
		}
		if running == 0 {
			return ctx.Err()
		}
		i := <-done
		running--
		used -= items[i].need()
	}
}
