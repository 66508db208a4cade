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

// allowed is which rooms a room of internal may import. A folder below a room follows its room.
var allowed = map[string][]string{
	"cli":        {"action", "artifact", "atomicfile", "bench", "command", "config", "detect", "engine", "exit", "formats", "gate", "github", "judge", "matrix", "measure", "reference", "report", "suite", "text", "worker"},
	"action":     {"atomicfile", "bench", "command", "config", "exit", "gate", "github", "judge", "matrix", "measure", "reference", "report", "text", "worker"},
	"command":    {"artifact", "atomicfile", "bench", "config", "detect", "device", "exit", "formats", "gate", "github", "judge", "matrix", "measure", "reference", "report", "stats", "suite", "tensor", "text", "worker"},
	"judge":      {"atomicfile", "bench", "config", "detect", "device", "exit", "formats", "gate", "matrix", "measure", "reference", "report", "suite", "text", "worker"},
	"measure":    {"artifact", "atomicfile", "bench", "config", "detect", "device", "engine", "exit", "formats", "gate", "matrix", "reference", "stats", "suite", "text", "version", "worker"},
	"suite":      {"artifact", "atomicfile", "bench", "config", "device", "formats", "gate", "matrix", "report", "stats", "tensor", "text", "worker"},
	"report":     {"bench", "detect", "gate", "github", "reference", "stats", "text"},
	"testing":    {"bench", "detect", "gate", "stats", "text"},
	"gate":       {"bench", "config", "detect", "exit", "matrix", "reference", "stats", "text"},
	"artifact":   {"config", "exit", "text"},
	"reference":  {"atomicfile", "bench", "config", "detect", "device", "matrix", "stats", "text", "worker"},
	"device":     {"bench", "stats", "text", "worker"},
	"engine":     {"tensor"},
	"exit":       {"config"},
	"formats":    {"atomicfile", "bench", "stats", "text"},
	"matrix":     {"bench", "text"},
	"bench":      {"stats", "text"},
	"config":     {"text"},
	"detect":     {"stats", "text"},
	"github":     {"text"},
	"tensor":     {"atomicfile"},
	"worker":     {"text"},
	"atomicfile": {},
	"stats":      {},
	"text":       {},
	"version":    {},
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
	"github.com/expr-lang/expr":             {"matrix", "predicates are about cells"},
	"github.com/gofrs/flock":                {"atomicfile artifact/download device measure/prepare measure/runner", "leases are about devices, a journal has one writer, a cache has several, a folder is replaced by one process, a checkout is built by one"},
	"github.com/tailscale/hujson":           {"formats/tensorsharp", "baselines have a faster reader of their own"},
	"github.com/shirou/gopsutil/v4":         {"device", "only device asks what machine this is"},
	"github.com/vbauerster/mpb/v8":          {"measure/progress", "one package writes over lines of a terminal"},
	"golang.org/x/term":                     {"text/terminal", "one package asks what a terminal can show"},
	"github.com/spf13/cobra":                {"cli", "no package below cli has flags"},
	"github.com/google/jsonschema-go":       {"command/schema suite/endpoint/structured suite/kernels/scoring", "documents, a server's requests, and answers that have schemas, each in one place"},
	"github.com/getkin/kin-openapi":         {"testing/githubtest", "only the test server checks GitHub's own description"},
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

// beside names the commands that another command imports, with the reason.
var beside = map[string]string{
	"command/record":  "what a command measured or found is written as a baseline, too",
	"command/history": "the pages of a site show histories",
}

func room(pkg string) string {
	name, _, _ := strings.Cut(pkg, "/")
	return name
}

// ownPackage returns the path below internal of an imported package, and whether it is one.
func ownPackage(imported string) (pkg string, internal bool) {
	return strings.CutPrefix(imported, module+"internal/")
}

func TestImportsPointDown(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.pkg, "cmd/") {
			continue
		}
		rule, ok := allowed[room(s.pkg)]
		if !ok {
			t.Errorf("%s: room %s has no import rule: add it to archtest and to docs/design.md", s.file, room(s.pkg))
			continue
		}
		for _, i := range s.imports {
			target, internal := ownPackage(i)
			switch {
			case !internal:
			case room(target) != room(s.pkg) && !slices.Contains(rule, room(target)):
				t.Errorf("%s: %s may not import %s (allowed: %s)", s.file, room(s.pkg), target, strings.Join(rule, ", "))
			case room(s.pkg) == "command" && room(target) == "command" && beside[target] == "":
				t.Errorf("%s: a command may not import %s: move what both need down", s.file, target)
			}
		}
	}
}

// TestRowsAreNeeded: no row of the table allows what no file needs, and the rooms form floors.
func TestRowsAreNeeded(t *testing.T) {
	used := map[string]map[string]bool{}
	for _, s := range sources(t) {
		for _, i := range s.imports {
			if target, internal := ownPackage(i); internal && !s.test {
				if used[room(s.pkg)] == nil {
					used[room(s.pkg)] = map[string]bool{}
				}
				used[room(s.pkg)][room(target)] = true
			}
		}
	}
	for from, rule := range allowed {
		for _, to := range rule {
			if !used[from][to] {
				t.Errorf("no file of %s imports %s: remove it from the table", from, to)
			}
			if reaches(to, from, map[string]bool{}) {
				t.Errorf("%s and %s import each other", from, to)
			}
		}
	}
}

func reaches(from, to string, seen map[string]bool) bool {
	seen[from] = true
	return from == to || slices.ContainsFunc(allowed[from], func(next string) bool { return !seen[next] && reaches(next, to, seen) })
}

// outsiders import packages of a kind from above it, or beside it, with the reason.
var outsiders = map[string]string{
	"cli":                  "commands such as bench run are front doors of a kind",
	"command/analyze":      "the front door of kind analysis",
	"measure":              "shards are divided as jobs are",
	"command/record":       "what cases measured is written into their files",
	"command/autobaseline": "its pairs are cases",
}

// TestKindsArePrivate: what one kind alone needs stands below it, and neither another kind nor another room imports it.
func TestKindsArePrivate(t *testing.T) {
	for _, s := range sources(t) {
		for _, i := range s.imports {
			target, _ := strings.CutPrefix(i, module+"internal/suite/")
			kind, _, private := strings.Cut(target, "/")
			if target == i || !private && room(s.pkg) != "suite" || s.test || outsiders[s.pkg] != "" || s.pkg == "suite/"+kind || strings.HasPrefix(s.pkg, "suite/"+kind+"/") {
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
				if (i == name || strings.HasPrefix(i, name+"/")) && !s.test && !slices.Contains(strings.Fields(o.owner), s.pkg) && room(s.pkg) != "testing" {
					t.Errorf("%s: only %s may import %s: %s", s.file, o.owner, name, o.reason)
				}
			}
		}
	}
}

func TestFlagsAreParsedInCommandsOnly(t *testing.T) {
	commands := []string{"cli", "engine", "engine/mock"}
	for _, s := range sources(t) {
		for _, i := range s.imports {
			if reason, ok := bannedBelowCLI[i]; ok && !s.test && !slices.Contains(commands, s.pkg) && room(s.pkg) != "testing" {
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
		if s.test || s.pkg == "cli" || strings.HasPrefix(s.pkg, "cmd/") || strings.HasPrefix(s.pkg, "testing/") {
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
