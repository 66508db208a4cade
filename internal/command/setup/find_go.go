package setup

import (
	"context"
	"path"
	"runtime"
	"slices"
	"strings"
)

// goBenchmarks finds packages with Go benchmarks: a suite for each.
func (r *repository) goBenchmarks(ctx context.Context) (all []Suite, err error) {
	packages := r.files.GoBenchmarks()
	var folders []string
	for _, p := range packages {
		folders = append(folders, p.Folder)
	}
	r.leaveOut("Go benchmarks", folders)
	for _, p := range packages[:min(len(packages), maxSuites)] {
		s, _, err := r.listed(ctx, r.goHarness(p.Folder, p.Benchmarks))
		if err != nil {
			return nil, err
		}
		if !r.has("go") {
			s.Missing = "install Go"
		}
		if len(packages) > 1 && p.Folder != "." {
			s.Prefix = p.Folder + "."
		}
		all = append(all, s)
	}
	return all, nil
}

// goHarness compiles the tests of a package once: go test would do so for each process.
func (r *repository) goHarness(folder string, guess []string) *harness {
	name := "go"
	if folder != "." {
		name = "go-" + plain(path.Base(folder), "package")
	}
	program := path.Join(up(folder), ".accelgate", "bin", strings.ReplaceAll(folder, "/", "-")+".test")
	if folder == "." {
		program = "./.accelgate/bin/" + name + ".test"
	}
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	run := []string{program, "-test.run", "^$", "-test.bench"}
	return &harness{
		name: name, title: "Go benchmarks in " + local(folder), dir: folder, format: "gobench", guess: guess,
		program: program,
		compile: []string{"go", "test", "-c", "-o", program, "."},
		command: append(slices.Clone(run), "^{regexp}$", "-test.benchtime", "200ms", "-test.benchmem"),
		list:    append(slices.Clone(run), ".", "-test.benchtime", "1x", "-test.v"),
	}
}

// up is the way from a folder of the repository to its root.
func up(folder string) string {
	return strings.TrimSuffix(strings.Repeat("../", strings.Count(folder, "/")+1), "/")
}
