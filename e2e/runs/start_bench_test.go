package runs_test

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkStart holds what the start of the command costs against that of the program true: medians of wall times and means of
// the processor's, alternately. Both do nothing else.
func BenchmarkStart(b *testing.B) {
	programs := [2][]string{{"true"}, {"accelgate", "--version"}}
	var walls [2][]time.Duration
	var used [2]time.Duration
	dir := b.TempDir()
	for b.Loop() {
		for i, program := range programs {
			cpu, wall := processor(b, dir, program[0], program[1:]...)
			walls[i], used[i] = append(walls[i], wall), used[i]+cpu
		}
	}
	for i, name := range []string{"floor", "start"} {
		slices.Sort(walls[i])
		b.ReportMetric(float64(walls[i][len(walls[i])/2].Microseconds())/1e3, name+"-ms")
		b.ReportMetric(float64(used[i].Microseconds())/1e3/float64(b.N), name+"-cpu-ms")
	}
	b.ReportMetric(float64(used[1])/float64(used[0]), "cpu-ratio")
}
