// Package archtest holds the import rules of accelgate as a test. It parses
// the sources itself: a test that asks 'go list' stays green from the test
// cache after a forbidden import was added, because the cache cannot see what
// a subprocess reads.
package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/accelgate/accelgate/"

// allowed says which internal packages a package may import. A package that is
// not listed may import nothing internal and must be added here first.
var allowed = map[string][]string{
	"atomicfile":                     {},
	"bench":                          {"jsonread", "lazyregexp", "stats"},
	"chart":                          {},
	"signature":                      {},
	"stats":                          {},
	"tensor":                         {},
	"text":                           {"lazyregexp"},
	"lazyregexp":                     {},
	"testtier":                       {}, // for tests
	"terminal":                       {},
	"version":                        {},
	"config":                         {"lazyregexp", "text"},
	"github/actions":                 {"text"},
	"github":                         {"lazyregexp", "text"},
	"github/githubtest":              {"github/githubtest/openapi", "lazyregexp"},
	"matrix":                         {"bench", "lazyregexp", "text"},
	"jsonread/jsonkey":               {"bench"},
	"jsonread":                       {},
	"worker":                         {"jsonread/jsonkey", "lazyregexp", "text"},
	"measure/progress":               {"bench", "stats", "text"},
	"measure/runner":                 {"atomicfile", "bench", "stats", "text"},
	"formats":                        {"bench", "formats/inferencebench", "formats/optrace", "jsonread/jsonkey", "lazyregexp", "stats", "text"},
	"formats/nvtools":                {"text"},
	"formats/tensorsharp":            {"bench", "jsonread/jsonkey", "text"},
	"suite/cases/casefile":           {"atomicfile", "jsonread", "text"},
	"formats/optrace":                {"bench", "jsonread/jsonkey", "text"},
	"formats/inferencebench":         {"bench", "jsonread", "lazyregexp", "text"},
	"reference/baseline":             {"atomicfile", "bench", "stats", "text"},
	"schema":                         {"bench", "gate", "reference/baseline", "reference/waiver", "report"},
	"device":                         {"bench", "lazyregexp", "text", "worker"},
	"cluster":                        {"config", "device", "lazyregexp", "matrix", "text", "worker"},
	"worktree":                       {"bench", "device", "text", "worker"},
	"reference/remote":               {"text", "worker", "worktree"},
	"reference/history":              {"atomicfile", "bench", "detect", "jsonread", "stats"},
	"gate":                           {"bench", "detect", "stats", "reference/waiver", "text"},
	"report":                         {"bench", "chart", "detect", "gate", "lazyregexp", "stats", "reference/waiver", "terminal", "text"},
	"report/interchange":             {"gate", "github/actions", "report", "text"},
	"engine":                         {"tensor"},
	"suite/endpoint/openai":          {"text"},
	"suite/endpoint/fakeserver":      {},
	"suite/endpoint/load":            {},
	"suite/endpoint/search":          {},
	"suite/endpoint/telemetry":       {},
	"suite/endpoint/structured":      {},
	"suite/endpoint/dataset":         {"text"},
	"device/energy":                  {"bench", "lazyregexp", "text", "worker"},
	"device/gauge":                   {"bench", "lazyregexp", "worker"},
	"device/health":                  {"bench", "text", "lazyregexp", "stats", "worker"},
	"suite/endpoint/latency":         {"bench", "suite/endpoint/load", "suite/endpoint/openai"},
	"tensor/safetensors":             {"atomicfile", "tensor"},
	"suite/kernels/flashinfer":       {"atomicfile", "bench", "jsonread", "text", "tensor"},
	"suite/kernels/evalconfig":       {"config", "text"},
	"suite/kernels/evaluator":        {"suite/kernels/flashinfer", "tensor"},
	"suite/kernels/harness":          {"suite/kernels/evaluator", "jsonread/jsonkey", "tensor/safetensors", "stats", "tensor", "text", "worker"},
	"suite/kernels/harness/gokernel": {"suite/kernels/harness", "tensor/safetensors", "tensor", "worker"},
	"suite/kernels/harness/workers":  {},
	"suite/kernels/harness/builtin":  {"suite/kernels/flashinfer", "tensor/safetensors", "tensor"},
	"suite/kernels/page":             {"chart", "report", "stats", "suite/kernels/flashinfer", "text"},
	"suite/kernels/scoring":          {"atomicfile", "suite/kernels/flashinfer", "text", "worker"},
	"suite/analysis/packing":         {"text"},
	"detect":                         {"stats"},
	"detect/evaluate":                {"detect", "stats"},
	"gate/evaluate":                  {"bench", "detect", "detect/evaluate", "gate", "stats"},
	"detect/jsonl":                   {"detect", "text"},
	"github/artifact":                {},
	"reference/waiver":               {"atomicfile", "config", "lazyregexp"},
	"suite/analysis/svd":             {},
	"download":                       {"lazyregexp", "text"},
	"suite/analysis/lowrank":         {"suite/analysis/packing", "tensor/safetensors", "suite/analysis/svd", "tensor", "text"},
	"suite":                          {"bench", "config", "lazyregexp", "matrix", "text", "stats", "worker"},
	"suite/*":                        {"bench", "config", "lazyregexp", "matrix", "suite/cases/casefile", "text", "formats", "formats/optrace", "stats", "suite", "worker"},
	"suite/kernels": {"bench", "config", "device/gauge", "formats/nvtools", "suite/kernels/evalconfig", "suite/kernels/evaluator", "suite/kernels/flashinfer", "suite/kernels/harness", "suite/kernels/harness/builtin", "suite/kernels/harness/gokernel", "suite/kernels/harness/workers",
		"matrix", "tensor/safetensors", "stats", "suite", "tensor", "terminal", "text", "worker"},
	"suite/analysis": {"bench", "config", "download", "lazyregexp", "matrix", "suite/analysis/lowrank", "suite/analysis/packing", "stats", "suite", "suite/analysis/svd", "tensor", "text"},
	"suite/endpoint": {"atomicfile", "bench", "config", "device/energy", "device/gauge", "lazyregexp", "suite/endpoint/load", "suite/endpoint/openai", "suite/endpoint/dataset", "suite/endpoint/latency", "suite/endpoint/search", "suite/endpoint/telemetry", "suite/endpoint/structured", "suite", "worker"},
	"exit":           {"config"},
	"artifacts":      {"config", "download", "exit", "terminal", "text"},
	"prepare":        {"atomicfile", "bench", "config", "lazyregexp", "suite", "text", "worker", "worktree"},
	"export":         {"atomicfile", "bench", "formats/inferencebench", "lazyregexp", "stats", "text"},
	"measure":        {"atomicfile", "bench", "cluster", "config", "detect", "device", "device/energy", "device/health", "engine", "exit", "formats", "formats/inferencebench", "formats/tensorsharp", "gate", "matrix", "prepare", "measure/progress", "reference/baseline", "reference/history", "measure/runner", "stats", "suite", "suite/analysis/packing", "text", "version", "worker", "worktree", "artifacts", "download", "reference/remote"},
	"inventory":      {"bench", "gate", "measure", "reference/baseline", "reference/history", "terminal", "text", "verdict"},
	"setup":          {"atomicfile", "bench", "config", "device", "exit", "formats", "lazyregexp", "text", "worker", "worktree"},
	"doctor":         {"bench", "config", "device", "device/health", "github", "lazyregexp", "setup", "text", "worker", "worktree"},
	"verdict":        {"bench", "cluster", "config", "detect", "device", "exit", "formats", "formats/inferencebench", "gate", "matrix", "measure", "reference/baseline", "reference/history", "reference/waiver", "report", "report/interchange", "signature", "suite", "terminal", "text", "worker"},
	"record":         {"bench", "config", "exit", "gate", "matrix", "measure", "plan", "reference/baseline", "reference/history", "report", "suite", "suite/cases", "suite/cases/casefile", "text", "verdict", "worker"},
	"selftest":       {"bench", "config", "exit", "gate", "lazyregexp", "measure", "reference/baseline", "report", "measure/runner", "stats", "text", "verdict"},
	"bisect":         {"atomicfile", "bench", "detect", "device", "exit", "measure", "measure/runner", "suite", "text", "verdict", "worker", "worktree"},
	"action":         {"atomicfile", "bench", "config", "exit", "gate", "github", "github/actions", "github/artifact", "lazyregexp", "matrix", "measure", "record", "reference/baseline", "reference/history", "reference/remote", "reference/waiver", "report", "measure/runner", "site", "text", "verdict", "worker"},
	"calibrate":      {"bench", "detect", "exit", "gate", "measure", "reference/baseline", "stats", "terminal", "text", "verdict"},
	"plan":           {"bench", "cluster", "config", "device", "exit", "matrix", "measure", "reference/baseline", "text", "verdict"},
	"analyze":        {"atomicfile", "exit", "measure", "report", "stats", "suite/analysis", "download", "suite/analysis/lowrank", "suite/analysis/packing", "tensor", "text", "verdict"},
	"trend":          {"bench", "chart", "detect", "exit", "matrix", "measure", "reference/history", "stats", "terminal", "text", "verdict"},
	"site":           {"atomicfile", "bench", "chart", "detect", "exit", "lazyregexp", "measure", "record", "reference/baseline", "reference/history", "report", "report/interchange", "text", "trend", "verdict"},
	"autobaseline":   {"bench", "config", "exit", "gate", "matrix", "measure", "record", "suite/cases", "text", "verdict"},
	"cli": {"action", "analyze", "artifacts", "atomicfile", "autobaseline", "bench", "bisect", "calibrate", "config", "detect/jsonl", "doctor", "engine", "exit", "export", "formats",
		"formats/inferencebench", "formats/tensorsharp", "gate", "github", "github/actions", "inventory", "lazyregexp", "matrix", "measure", "plan", "measure/progress", "record", "reference/baseline",
		"report", "schema", "selftest", "setup", "signature", "site", "suite", "suite/*", "suite/analysis/lowrank", "suite/analysis/packing", "suite/cases/casefile", "suite/endpoint/dataset",
		"suite/endpoint/fakeserver", "suite/kernels/evalconfig", "suite/kernels/evaluator", "suite/kernels/flashinfer", "suite/kernels/harness/gokernel", "suite/kernels/page", "suite/kernels/scoring", "terminal", "text", "trend", "verdict",
		"worker"},
}

// owned names packages that only one of ours may import, with the reason.
var owned = map[string]struct{ owner, reason string }{
	"os/exec":                               {"worker", "every child gets its group, deadline and scrubbed environment in one place"},
	"github.com/google/go-github/v62":       {"github", "a foreign SDK is used in one package, in our words outside"},
	"golang.org/x/oauth2":                   {"github", "the token is handled in one place"},
	"github.com/sethvargo/go-githubactions": {"github/actions", "the runner's protocol is used in one place"},
	"github.com/yuin/goldmark":              {"report", "only reports are Markdown"},
	"github.com/goccy/go-yaml":              {"config", "YAML is strict and has positions, in one place"},
	"github.com/moby/moby":                  {"worker", "containers are started where processes are"},
	"github.com/containerd/errdefs":         {"worker", "an engine's refusals are distinguished where it is called"},
	"github.com/ebitengine/purego":          {"suite/analysis/svd", "foreign libraries are loaded in one place"},
	"github.com/expr-lang/expr":             {"matrix", "predicates are about cells"},
	"github.com/gofrs/flock":                {"atomicfile device download measure/runner prepare", "leases are about devices, a journal has one writer, a cache has several, a folder is replaced by one process, a checkout is built by one"},
	"github.com/tailscale/hujson":           {"formats/tensorsharp", "baselines have a faster reader of their own"},
	"github.com/shirou/gopsutil/v4":         {"device", "only host asks what machine this is"},
	"github.com/vbauerster/mpb/v8":          {"measure/progress", "one package writes over lines of a terminal"},
	"golang.org/x/term":                     {"terminal", "one package asks what a terminal can show"},
	"github.com/spf13/cobra":                {"cli", "no package below cli has flags"},
	"github.com/google/jsonschema-go":       {"schema suite/endpoint/structured suite/kernels/scoring", "documents, a server's requests, and answers that have schemas, each in one place"},
	"github.com/getkin/kin-openapi":         {"github/githubtest", "only the test server checks GitHub's own description"},
}

// bannedBelowCLI names packages that only commands may import.
var bannedBelowCLI = map[string]string{
	"flag": "arguments are parsed in cli (engine is a command of its own)",
}

type source struct {
	pkg     string // "suite/models", "cmd/accelgate"
	file    string
	test    bool
	imports []string
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, root := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				return skip(err)
			}
			if d.IsDir() || filepath.Ext(name) != ".go" {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			s := source{file: filepath.ToSlash(name), test: strings.HasSuffix(name, "_test.go")}
			s.pkg = strings.TrimPrefix(path.Dir(strings.TrimPrefix(s.file, "../../")), "internal/")
			for _, i := range file.Imports {
				s.imports = append(s.imports, strings.Trim(i.Path.Value, `"`))
			}
			all = append(all, s)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func skip(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// rule returns what pkg may import; suites share a rule unless they have one of
// their own.
func rule(pkg string) ([]string, bool) {
	if rule, ok := allowed[pkg]; ok || path.Dir(pkg) != "suite" {
		return rule, ok
	}
	rule, ok := allowed["suite/*"]
	return rule, ok
}

func permits(rule []string, target string) bool {
	return slices.Contains(rule, target) || path.Dir(target) == "suite" && slices.Contains(rule, "suite/*")
}

func TestImportsPointDown(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.pkg, "cmd/") || strings.HasPrefix(s.pkg, "github/githubtest/") {
			continue
		}
		rule, ok := rule(s.pkg)
		if !ok {
			t.Errorf("%s: package %s has no import rule: add it to archtest and to docs/design.md", s.file, s.pkg)
			continue
		}
		for _, i := range s.imports {
			target, internal := strings.CutPrefix(i, module+"internal/")
			if internal && !permits(rule, target) {
				t.Errorf("%s: %s may not import %s (allowed: %s)", s.file, s.pkg, target, strings.Join(rule, ", "))
			}
		}
	}
}

// outsiders import packages of a kind from above it, or beside it, with the reason.
var outsiders = map[string]string{
	"cli":          "commands such as bench run are front doors of a kind",
	"analyze":      "the front door of kind analysis",
	"measure":      "shards are divided as jobs are",
	"record":       "what cases measured is written into their files",
	"autobaseline": "its pairs are cases",
}

// TestKindsArePrivate: what one kind alone needs stands below it, and no other room imports it.
func TestKindsArePrivate(t *testing.T) {
	for _, s := range sources(t) {
		for _, i := range s.imports {
			target, _ := strings.CutPrefix(i, module+"internal/suite/")
			kind, _, private := strings.Cut(target, "/")
			if target == i || !private || s.test || outsiders[s.pkg] != "" || s.pkg == "suite/"+kind || strings.HasPrefix(s.pkg, "suite/"+kind+"/") {
				continue
			}
			t.Errorf("%s: %s belongs to kind %s: move what both need up, or the importer below the kind", s.file, i, kind)
		}
	}
}

func TestForeignPackagesHaveOneOwner(t *testing.T) {
	for _, s := range sources(t) {
		for _, i := range s.imports {
			for name, o := range owned {
				if (i == name || strings.HasPrefix(i, name+"/")) && !s.test && !slices.Contains(strings.Fields(o.owner), s.pkg) && !strings.HasPrefix(s.pkg, "github/githubtest") {
					t.Errorf("%s: only %s may import %s: %s", s.file, o.owner, name, o.reason)
				}
			}
		}
	}
}

func TestFlagsAreParsedInCommandsOnly(t *testing.T) {
	commands := []string{"cli", "engine", "suite/endpoint/fakeserver"}
	for _, s := range sources(t) {
		for _, i := range s.imports {
			if reason, ok := bannedBelowCLI[i]; ok && !s.test && !slices.Contains(commands, s.pkg) && !strings.HasPrefix(s.pkg, "github/githubtest") {
				t.Errorf("%s: %s may not import %s: %s", s.file, s.pkg, i, reason)
			}
		}
	}
}

// TestOnlyCommandsReadTheProcess keeps arguments, environment, clock and
// working folder out of the packages below cli.
func TestOnlyCommandsReadTheProcess(t *testing.T) {
	banned := map[string]string{
		"os.Getenv": "take a getenv function", "os.LookupEnv": "take a getenv function", "os.Environ": "take the environment as a parameter",
		"os.Args": "take the arguments as a parameter", "os.Getwd": "take the folder as a parameter", "os.Exit": "return an error or a code",
		"log.Fatal": "return an error", "time.Now": "take a now function",
	}
	clocks := []string{"worker", "engine", "github"} // they time what they run or how old a reading is; no date of theirs reaches a file
	for _, s := range sources(t) {
		if s.test || s.pkg == "cli" || s.pkg == "testtier" || strings.HasPrefix(s.pkg, "cmd/") || strings.HasPrefix(s.pkg, "github/githubtest/") {
			continue
		}
		for _, call := range selectors(t, s.file) {
			if call == "time.Now" && slices.Contains(clocks, s.pkg) {
				continue
			}
			if advice, ok := banned[call]; ok {
				t.Errorf("%s: %s outside cli: %s", s.file, call, advice)
			}
		}
	}
}
