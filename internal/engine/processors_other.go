//go:build !linux

package engine

// processors are as many as there are: threads cannot be moved to one of them.
func processors(maximum int) (list []int) {
	for range maximum {
		list = append(list, -1)
	}
	return list
}

func bindThread(int) {}
