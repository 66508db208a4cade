package exec

import "github.com/accelgate/accelgate/internal/bench"

// everyCell names the process of a command that measures several benchmarks.
const everyCell = "all"

// process implements Process of [suite.Sharing]: a command that chooses no single benchmark measures all.
func (s *Suite) process(bench.Cell) string {
	if s.body.chooses() || len(s.cells) == 1 {
		return ""
	}
	return everyCell
}

// choose implements Choose of [suite.Sharing].
func (s *Suite) choose(cells []bench.Cell) { s.chosen = cells }

// ready implements Ready of [suite.Sharing].
func (s *Suite) ready(c bench.Cell, d bench.Device) bool {
	return s.sessions.Ready(s.process(c), c, d)
}

// selected are the names of the chosen benchmarks, nil where these are all, and how many there are.
func (s *Suite) selected() (names []string, n int) {
	if len(s.chosen) == 0 || len(s.chosen) == len(s.cells) && s.body.all() {
		return nil, len(s.cells)
	}
	for _, c := range s.chosen {
		names = append(names, s.benchmark(c))
	}
	return names, len(names)
}
