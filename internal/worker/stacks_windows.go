package worker

// requestStacks notes that there is no signal for it.
func (c *child) requestStacks(to *stacks, _ []string) (signalled bool) {
	to.note("this system has no signal by which programs print their stacks")
	return false
}
