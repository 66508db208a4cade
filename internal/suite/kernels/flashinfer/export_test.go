package flashinfer

// String returns "path:line: message [rule]" on one line.
func (f Finding) String() string {
	return Place{f.Path, f.Line}.String() + ": " + f.Message + " [" + f.Rule + "]"
}
