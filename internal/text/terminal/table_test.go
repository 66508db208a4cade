package terminal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/text/terminal"
)

func TestTable(t *testing.T) {
	const text = "the hosts of this configuration and their devices\n\nhost\tdevice\tcells\thistory\n" +
		"linux-cuda-of-a-team\tNVIDIA H100 80GB\t18\t12 runs\nm\tM4 Max\t7\tnone of its runs is kept, for it has no folder\n"
	const wide = "the hosts of this configuration and their devices\n\n" +
		"host                  device            cells  history\n" +
		"linux-cuda-of-a-team  NVIDIA H100 80GB  18     12 runs\n" +
		"m                     M4 Max            7      none of its runs is kept, for it has no folder\n"
	const narrow = "the hosts of this configuration and\n  their devices\n\n" +
		"host\n    device            cells\n    history\nlinux-cuda-of-a-team\n    NVIDIA H100 80GB  18\n    12 runs\n" +
		"m\n    M4 Max            7\n    none of its runs is kept, for it has\n    no folder\n"
	for columns, want := range map[int]string{0: wide, 200: wide, 93: wide, 1: narrow, 40: narrow} {
		var b strings.Builder
		table := terminal.NewTable(&b, columns)
		fmt.Fprint(table, text)
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
}

// TestTableHangs puts what a last column says beside the others, on several lines.
func TestTableHangs(t *testing.T) {
	const want = "load  warning  other programs used 100 % of\n               the processors: end them\ngit   ok       \"2.39.5\"\n"
	var b strings.Builder
	table := terminal.NewTable(&b, 46)
	fmt.Fprint(table, "load\twarning\tother programs used 100 % of the processors: end them\ngit\tok\t\"2.39.5\"\n")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}
