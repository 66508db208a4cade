package openai

// Check applies what a request's answer must be.
func (b Body) Check(answer []byte) (tokens int, err error) { return b.check(answer, b.inputs) }
