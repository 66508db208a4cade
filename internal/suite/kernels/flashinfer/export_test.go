package flashinfer

// ParseSolution reads a solution. The path is what messages call the file. An
// error is of type [Problems]; the solution then holds what could be read.
func ParseSolution(path string, text []byte) (*Solution, error) {
	r := reader{path: path}
	var s *Solution
	if root, ok := r.document(text); ok {
		s = r.solution(root)
	}
	return s, r.finish().err()
}

// String returns "path:line: message [rule]" on one line.
func (f Finding) String() string {
	return Place{f.Path, f.Line}.String() + ": " + f.Message + " [" + f.Rule + "]"
}
