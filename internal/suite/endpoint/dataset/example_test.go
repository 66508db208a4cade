package dataset_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
)

func Example() {
	file := `{"prompt": "Name a river.", "output_tokens": 16}` + "\n" + `{"prompt": "Name a mountain."}`
	open := func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(file)), nil }
	d, err := dataset.Load(dataset.Spec{Kind: dataset.JSONL, Path: "names.jsonl"}, open)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := d.Sequence(dataset.AsIs, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.ID, d.Len(), d.Hash[:12])
	for i := range 3 {
		p := s.Prompt(i, false)
		fmt.Println(p.Text, p.OutputTokens)
	}
	fmt.Println("asks a prompt twice:", s.Repeats(0, 3))
	// Output:
	// jsonl:names.jsonl 2 2ccf09e793c5
	// Name a river. 16
	// Name a mountain. 0
	// Name a river. 16
	// asks a prompt twice: true
}

func ExampleLoad() {
	d, err := dataset.Load(dataset.Spec{
		Kind: dataset.SharedPrefix, Groups: 2, Prefix: 4, N: 4, Seed: 42,
		Input: dataset.Lengths{Dist: dataset.Fixed, Value: 3},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range d.Len() {
		fmt.Println(d.Prompt(i).Text)
	}
	// Output:
	// blue clock drink head forest touch boss
	// key sing draw ring old policy image
	// blue clock drink head paint nail lamp
	// key sing draw ring state list sell
}
