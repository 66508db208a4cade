package packing_test

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

func Example() {
	p := packing.Problem{Lengths: []int64{10, 25, 35, 50, 60, 75, 80, 90}, Max: 130, Ranks: 4}
	fmt.Println("at least", p.LowerBound(), "rows")
	for _, a := range packing.Algorithms()[:2] {
		k, err := a.Pack(p)
		if err != nil {
			fmt.Println(err)
			return
		}
		m := packing.Measure(p, k)
		fmt.Printf("%s: %d rows, step efficiency %.2f, loads %v\n", a.Name, m.TotalMinibatches, m.StepEfficiency, k.Loads(p.Lengths))
	}
	// Output:
	// at least 1 rows
	// greedy: 2 rows, step efficiency 0.52, loads [[70 100 115 50] [90 0 0 0]]
	// lpt: 1 rows, step efficiency 0.97, loads [[100 105 110 110]]
}

func ExampleSpread() {
	minutes := []int64{12, 7, 7, 5, 3}
	parts := packing.Spread(minutes, 2)
	fmt.Println(parts, packing.Makespan(minutes, parts), "of at least", packing.MakespanBound(minutes, 2))
	// Output: [[0 3] [1 2 4]] 17 of at least 17
}
