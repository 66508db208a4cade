package evalconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/evalconfig"
)

// BenchmarkResolve compares a small file with one that is as large as files may
// be, whose positions take longest to find.
func BenchmarkResolve(b *testing.B) {
	small := "iterations: 5\nop_type_config: {moe: {rtol: 0.1}}\ndefinition_config:\n  last: {atol: 0.1}\n"
	var large strings.Builder
	large.WriteString("op_type_config:\n")
	for i := range 3000 {
		fmt.Fprintf(&large, "  o%d: {rtol: 0.1}\n", i)
	}
	large.WriteString("  last:\n    outputs:\n")
	for i := range 100 {
		fmt.Fprintf(&large, "      o%d: {rtol: 0.1, atol: 0.1}\n", i)
	}
	for name, text := range map[string]string{"small": small, "large": large.String()} {
		f := parse(b, text)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				resolve(b, f, "last", "last", evalconfig.Overrides{})
			}
		})
	}
}
