package inferencebench

import (
	"fmt"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// field is one member of v1.
type field struct {
	path     string
	kind     kind
	optional bool                  // may be absent or null
	rule     shape                 // of a text or a number
	of       func(*Fields) *string // where it is kept; nil if it is not compared
	context  string                // its name in a Run's Context; "" if it is no condition of the measurement
	// placeholder stands for what is not known. Where the original has one of
	// its own, it is that.
	placeholder string
}

// shape is what a text may look like, with what to write instead.
type shape struct {
	fits func(string) bool
	want string
}

func matching(pattern, want string) shape { return shape{whole(pattern).MatchString, want} }

var (
	anyText  = shape{func(string) bool { return true }, "any text"}
	nonEmpty = shape{func(s string) bool { return s != "" }, `write "unknown" if it is not known`}
	hash     = matching(`[0-9a-f]{64}`, "write a SHA-256 in 64 lower-case hex digits, or 64 zeros if it is not known")
	commit   = shape{func(s string) bool { n := len([]rune(s)); return n >= 7 && n <= 40 },
		"write 7 to 40 characters of a commit, or zeros if it is not known"}
	version   = matching(`\d+\.\d+\.\d+(-[\w.]+)?`, "write a version such as 1.0.0")
	uuid      = matching(`(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`, "write a UUID")
	timestamp = shape{func(s string) bool { _, err := time.Parse(time.RFC3339Nano, s); return err == nil },
		"write a time such as 2026-06-13T05:29:11Z"}
	anInteger = shape{integer.MatchString, "write a whole number"}
)

var zeros = strings.Repeat("0", 64)

// emptySHA256 is the SHA-256 of nothing: what a program yields that hashes the
// output of a command which printed nothing.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// fields are the members of v1 by its JSON Schema, in the order in which they
// are written.
var fields = []field{
	{path: "suite_id", kind: str, rule: nonEmpty, context: "suite", placeholder: "unknown",
		of: func(f *Fields) *string { return &f.SuiteID }},
	{path: "suite_version", kind: str, rule: version, context: "suite_version", placeholder: "0.0.0",
		of: func(f *Fields) *string { return &f.SuiteVersion }},
	{path: "run_id", kind: str, rule: uuid, of: func(f *Fields) *string { return &f.RunID }},
	{path: "timestamp", kind: str, rule: timestamp, placeholder: "1970-01-01T00:00:00Z",
		of: func(f *Fields) *string { return &f.Timestamp }},
	{path: "model.id", kind: str, rule: nonEmpty, context: "model", placeholder: "unknown",
		of: func(f *Fields) *string { return &f.Model.ID }},
	{path: "model.revision", kind: str, rule: commit, context: "model_revision", placeholder: "unknown00",
		of: func(f *Fields) *string { return &f.Model.Revision }},
	{path: "model.provider", kind: str, rule: nonEmpty, context: "provider", placeholder: "unknown",
		of: func(f *Fields) *string { return &f.Model.Provider }},
	{path: "model.endpoint_hash", kind: str, rule: hash, context: "endpoint_hash", placeholder: zeros,
		of: func(f *Fields) *string { return &f.Model.EndpointHash }},
	{path: "engine.name", kind: str, rule: nonEmpty, context: "engine", placeholder: "unknown",
		of: func(f *Fields) *string { return &f.Engine.Name }},
	{path: "engine.version", kind: str, rule: nonEmpty, context: "engine_version", placeholder: "unknown",
		of: func(f *Fields) *string { return &f.Engine.Version }},
	{path: "engine.config_hash", kind: str, rule: hash, context: "engine_config_hash", placeholder: zeros,
		of: func(f *Fields) *string { return &f.Engine.ConfigHash }},
	{path: "engine.image_digest", kind: str, optional: true, rule: anyText, context: "engine_image_digest",
		of: func(f *Fields) *string { return &f.Engine.ImageDigest }},
	{path: "quantization", kind: object, optional: true},
	{path: "quantization.format", kind: str, optional: true, rule: anyText, context: "quantization",
		of: func(f *Fields) *string { return &f.Quantization.Format }},
	{path: "quantization.method", kind: str, optional: true, rule: anyText, context: "quantization_method",
		of: func(f *Fields) *string { return &f.Quantization.Method }},
	{path: "hardware_fingerprint.fingerprint_sha256", kind: str, rule: hash, context: "hardware_fingerprint", placeholder: zeros,
		of: func(f *Fields) *string { return &f.Fingerprint }},
	{path: "hardware_fingerprint.dmi_uuid", kind: str, rule: nonEmpty},
	{path: "hardware_fingerprint.gpus", kind: array, optional: true},
	{path: "hardware_fingerprint.cpu", kind: object},
	{path: "hardware_fingerprint.memory", kind: object},
	{path: "hardware_fingerprint.bios", kind: object},
	{path: "hardware_fingerprint.numa", kind: object, optional: true},
	{path: "hardware_fingerprint.driver", kind: str, rule: anyText},
	{path: "hardware_fingerprint.cuda", kind: str, rule: anyText},
	{path: "hardware_fingerprint.nccl", kind: str, optional: true, rule: anyText},
	{path: "software_provenance.image_digest", kind: str, optional: true, rule: anyText},
	{path: "software_provenance.pip_freeze_hash", kind: str, rule: hash},
	{path: "software_provenance.git_commit", kind: str, rule: commit, placeholder: zeros[:40],
		of: func(f *Fields) *string { return &f.SoftwareProvenance.GitCommit }},
	{path: "software_provenance.nvidia_smi_q_hash", kind: str, optional: true, rule: anyText},
	{path: "dataset.id", kind: str, rule: nonEmpty, context: "dataset", placeholder: "unknown",
		of: func(f *Fields) *string { return &f.Dataset.ID }},
	{path: "dataset.hash", kind: str, rule: hash, context: "dataset_hash", placeholder: zeros,
		of: func(f *Fields) *string { return &f.Dataset.Hash }},
	{path: "seed", kind: number, rule: anInteger, context: "seed", placeholder: "0",
		of: func(f *Fields) *string { return &f.Seed }},
	{path: "driver_options", kind: object, optional: true},
	{path: "metrics", kind: object},
	{path: "distributions", kind: object, optional: true},
	{path: "slo_template", kind: str, optional: true, rule: anyText, context: "slo_template",
		of: func(f *Fields) *string { return &f.SLOTemplate }},
	{path: "warnings", kind: array, optional: true},
	{path: "signature", kind: object, optional: true},
}

const maxText = 4096 // bytes of a field

// take reads the field from an envelope into f, if it is one that f keeps.
func (d field) take(from value, f *Fields) error {
	v, ok := from.get(d.path)
	switch {
	case !ok && !d.optional:
		return fmt.Errorf("%s is missing: v1 demands it, so see whether the file is an envelope of version v1", d.path)
	case !ok || v.kind == null && d.optional:
		return nil
	case v.kind != d.kind:
		return fmt.Errorf("%s is %s: write %s", d.path, v.kind, d.kind)
	case d.kind != str && d.kind != number:
		return nil
	case len(v.text) > maxText:
		return fmt.Errorf("%s has %d bytes: shorten it to %d", d.path, len(v.text), maxText)
	case !d.rule.fits(v.text):
		return fmt.Errorf("%s is %.100q: %s", d.path, v.text, d.rule.want)
	}
	if d.of != nil {
		*d.of(f) = v.plain()
	}
	return nil
}

// value returns what stands for s in an envelope.
func (d field) value(s string) value {
	if d.kind == number {
		return value{kind: number, text: s}
	}
	return textValue(s)
}

// accepts reports whether v1 allows s as this field's value, and keeps it as
// it is spelled.
func (d field) accepts(s string) bool {
	if d.kind == number && pythonNumber(s) != s {
		return false
	}
	return len(s) <= maxText && (s != "" || d.optional) && d.rule.fits(s)
}

var (
	unknownWord = lazyregexp.New(`^(?i:unknown0*)$`)
	allZeros    = lazyregexp.New(`^(?:sha256:)?0{7,}$`)
)

// Unknown reports whether the value of a field, or of the condition of a Run
// by the same name, stands for nothing: it is empty, "unknown" (also as
// "unknown00", which fills a minimum length), seven zeros or more, the SHA-256
// of nothing, or version 0.0.0 of a suite. Two placeholders that are equal do
// not make two measurements comparable. A seed has no placeholder.
func Unknown(field, value string) bool {
	switch field {
	case "seed":
		return value == ""
	case "suite_version":
		return value == "" || value == "0.0.0"
	}
	return value == "" || unknownWord.MatchString(value) || allZeros.MatchString(value) ||
		strings.TrimPrefix(value, "sha256:") == emptySHA256
}
