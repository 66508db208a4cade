package gate

// Method says what the numbers of a verdict were compared by.
type Method string

// The methods. NoMethod compared nothing.
const (
	NoMethod      Method = ""
	MethodPairs   Method = "pairs"   // base and head, measured alternately, by an exact test
	MethodHistory Method = "history" // earlier runs of the host
	// MethodSessions compares two sessions, by what sessions of unchanged code may differ by.
	MethodSessions  Method = "sessions"
	MethodThreshold Method = "threshold" // medians, by a fixed limit
	MethodExact     Method = "exact"     // equality
	MethodDigest    Method = "digest"    // nothing that is measured has changed
	MethodTest      Method = "test"      // scores with standard errors; see [Limit].Test
	MethodFit       Method = "fit"       // coefficients of a line
	MethodBound     Method = "bound"     // a minimum or maximum
	MethodParts     Method = "parts"     // operators of a total
	MethodOutcome   Method = "outcome"   // how the cell ended
)

// Methods lists every method but [NoMethod].
var Methods = []Method{
	MethodPairs, MethodHistory, MethodSessions, MethodThreshold,
	MethodExact, MethodDigest, MethodTest, MethodFit, MethodBound, MethodParts, MethodOutcome}

// Speed reports whether two numbers were compared by how large their difference is.
func (m Method) Speed() bool {
	return m == MethodPairs || m == MethodHistory || m.medians() || m == MethodTest || m == MethodFit
}

// compares reports whether two numbers, or the digests of their artifacts, were compared.
func (m Method) compares() bool { return m.Speed() || m == MethodExact || m == MethodDigest }

// Statistics reports whether values of several measurements were weighed against noise.
func (m Method) Statistics() bool { return m == MethodPairs || m == MethodHistory }

// exactPairs reports a test of pairs whose rate of errors no load on both sides changes.
func (e *Evidence) exactPairs() bool {
	return e.Method == MethodPairs || e.Method == MethodFit && e.InPairs
}

// powered reports a method by which numbers are compared for being slower, and of which it is
// known which losses it finds.
func (m Method) powered() bool { return m.limited() }

// medians reports whether the medians of both sides were compared.
func (m Method) medians() bool { return m == MethodSessions || m == MethodThreshold }

// limited reports whether one metric of one cell was compared by a limit of its change.
func (m Method) limited() bool { return m.Statistics() || m.medians() }
