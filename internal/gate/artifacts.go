package gate

import "github.com/accelgate/accelgate/internal/bench"

// unchanged reports whether both sides measured the same artifacts, so that no
// speed can have changed but by the weather.
func unchanged(ref, got *bench.Result) bool {
	return got.Artifacts != "" && got.Artifacts == ref.Artifacts
}

// digest is the verdict on a metric of a cell whose artifacts have not changed. Its numbers are
// shown, and not compared.
func digest(old, new *bench.Sample) Verdict {
	o, n := old.Summarize(), new.Summarize()
	return Verdict{Finding: Unchanged, Old: o.Median, New: n.Median,
		Reason:   "no declared artifact has changed, so its speed was not judged by numbers",
		Evidence: Evidence{Method: MethodDigest, OldN: o.N, NewN: n.N}}
}
