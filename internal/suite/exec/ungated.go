package exec

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats/sources"
	"github.com/accelgate/accelgate/internal/text"
)

// maxUngated bounds the folders that a warning names.
const maxUngated = 5

// ungated warns of packages with Go benchmarks that no suite tests and no comment names. Where a suite does not say
// which packages it tests, it may test all.
func ungated(file *config.File) []string {
	tested := commented(file.Text)
	for i := range file.Suites {
		all, known := packagesOf(file, &file.Suites[i])
		if !known {
			return nil
		}
		tested = append(tested, all...)
	}
	files, err := sources.Walk(file.Dir, sources.MaxFiles)
	if err != nil {
		return nil // what is measured there fails
	}
	defer files.Close()
	var folders []string
	for _, p := range files.GoBenchmarks() {
		if !elsewhere(files, p.Folder) && !slices.ContainsFunc(tested, func(pattern string) bool { return within(p, pattern) }) {
			folders = append(folders, text.OneLine(shown(p.Folder)))
		}
	}
	if len(folders) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Go benchmarks in %s are in no suite: add suites that accelgate init --dry-run prints, or "+
		"name the folder in a comment, as in # not gated %s", strings.Join(text.First(folders, maxUngated), ", "), folders[0])}
}

// shown is a folder as comments and messages name it.
func shown(folder string) string {
	if folder == "." {
		return "./"
	}
	return "./" + folder
}

// elsewhere reports whether a folder below the root, or one above it, has a configuration of its own.
func elsewhere(files *sources.Files, folder string) bool {
	for ; folder != "."; folder = path.Dir(folder) {
		if files.Has(folder + "/accelgate.yaml") {
			return true
		}
	}
	return false
}

// within reports whether a pattern such as ./x or ./x/... selects a package.
func within(p sources.GoPackage, pattern string) bool {
	base, below := strings.CutSuffix("./"+pattern, "/...")
	if base = path.Clean(base); !below || p.Folder == base {
		return p.Folder == base
	}
	inside := func(folder, of string) bool { return of == "." || strings.HasPrefix(folder+"/", of+"/") }
	return inside(p.Folder, base) && inside(base, p.Module)
}

// commented are the words of comments that are paths.
func commented(configuration []byte) (all []string) {
	for line := range strings.Lines(string(configuration)) {
		_, comment, _ := strings.Cut(" "+line, " #")
		for _, word := range strings.Fields(comment) {
			word = strings.Trim(word, `"'()[]{},;:`)
			if strings.HasPrefix(word, "./") {
				all = append(all, word)
			}
		}
	}
	return all
}

// packagesOf are the packages of Go that a suite tests, from the folder of the configuration, and false where its
// commands do not show them.
func packagesOf(file *config.File, c *config.Suite) (all []string, known bool) {
	if c.Kind != "exec" {
		return nil, true
	}
	b, err := load(c)
	if err != nil || b.Read.Format != goFormat {
		return nil, err == nil
	}
	commands := []config.Step{{Command: b.Command, Dir: b.Dir}, {Command: b.List, Dir: b.Dir}}
	for _, build := range []*config.Build{c.Build, file.Build} {
		if build != nil {
			commands = append(commands, build.Step)
		}
	}
	for _, s := range commands {
		patterns, ok := tests(s.Command)
		for _, p := range patterns {
			below, err := filepath.Rel(file.Resolve("."), filepath.Join(file.Resolve(s.Dir), p))
			if err != nil || !strings.HasPrefix(p, ".") {
				return nil, false
			}
			all = append(all, filepath.ToSlash(below))
		}
		known = known || ok
	}
	return all, known
}

// withValue are flags of go test whose value may be an argument of its own.
var withValue = strings.Fields("-bench -benchtime -count -cpu -exec -gcflags -ldflags -o -p -parallel -run -skip -tags -timeout")

// tests are the packages that a command has Go test, and whether it is go test.
func tests(command []string) (patterns []string, ok bool) {
	i := slices.IndexFunc(command, func(arg string) bool { return path.Base(filepath.ToSlash(arg)) == "go" })
	if i < 0 || i+1 == len(command) || command[i+1] != "test" || slices.Contains(command, "-C") {
		return nil, false
	}
	value := false
	for _, arg := range command[i+2:] {
		if !value && !strings.HasPrefix(arg, "-") {
			patterns = append(patterns, arg)
		}
		value = !value && slices.Contains(withValue, arg)
	}
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	return patterns, true
}
