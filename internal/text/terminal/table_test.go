package terminal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/text/terminal"
)

func TestTable(t *testing.T) {
	const text = "hosts\n\nhost\tdevice\tcells\nlinux-cuda\tNVIDIA H100\t18\nm\tM4 Max\t7\n"
	print := func(columns int) string {
		var b strings.Builder
		table := terminal.NewTable(&b)
		table.Columns = columns
		fmt.Fprint(table, text)
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const wide = "hosts\n\nhost        device       cells\nlinux-cuda  NVIDIA H100  18\nm           M4 Max       7\n"
	const narrow = "hosts\n\nhost\n    device       cells\nlinux-cuda\n    NVIDIA H100  18\nm\n    M4 Max       7\n"
	for columns, want := range map[int]string{0: wide, 200: wide, 30: wide, 29: narrow, 1: narrow} {
		if got := print(columns); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
}
