// Package flashinfer holds datasets of FlashInfer-Bench: definitions of
// kernels, solutions that implement them, workloads that they are measured
// with, and traces, which are the results. It reads and writes the files,
// checks them, evaluates the constraints of definitions, and turns traces into
// scores and into a [bench.Run]. It runs nothing and reads no tensors.
//
// The format is that of flashinfer-bench in April 2026 (commit 40e6ca78).
// Upstream ignores unknown keys and creates a dataset that is
// not there; here both are errors.
package flashinfer
