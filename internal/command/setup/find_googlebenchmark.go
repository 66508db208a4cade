package setup

import (
	"context"
	"path"
	"slices"
	"strings"
)

// googleBenchmark finds programs that use Google Benchmark: built ones below folders of
// results, or the sources alone.
func (r *repository) googleBenchmark(ctx context.Context) (all []Suite, err error) {
	if !r.usesGoogleBenchmark() {
		return nil, nil
	}
	programs := r.programs(func(base string) bool {
		return strings.Contains(strings.ToLower(base), "bench") && base != llamaProgram && path.Ext(base) != ".so" &&
			path.Ext(base) != ".py" &&
			path.Ext(base) != ".sh"
	})
	r.leaveOut("Google Benchmark", programs)
	for _, name := range programs[:min(len(programs), maxSuites)] {
		s, listed, err := r.listed(ctx, r.googleHarness(name))
		if err != nil {
			return nil, err
		}
		if s.Prefix = name + "."; listed {
			all = append(all, s)
		}
	}
	if len(all) == 1 {
		all[0].Prefix = ""
	}
	if len(all) > 0 {
		return all, nil
	}
	h := r.googleHarness("build/bench")
	return []Suite{{Name: h.name, Title: "Google Benchmark", Build: h.build, Body: h.body(nil),
		Missing: "build the program, and run accelgate init --force again"}}, nil
}

func (r *repository) googleHarness(program string) *harness {
	h := &harness{
		name: plain(path.Base(program),
			"bench"), title: "Google Benchmark in " + local(program), format: "googlebench", file: "result.json",
		command: []string{
			local(program),
			"--benchmark_filter=^{regexp}$",
			"--benchmark_out={output}/result.json",
			"--benchmark_min_time=0.2",
		},
		list: []string{local(program), "--benchmark_out={output}/result.json", "--benchmark_min_time=0.001"},
	}
	if top, _, _ := strings.Cut(program, "/"); r.files.Has("CMakeLists.txt") && top == "build" {
		h.build = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build"
		h.more = []string{"# build: [sh, -c, " + scalar(h.build) + "] # builds both sides of a comparison"}
	}
	return h
}

// usesGoogleBenchmark reports whether sources or build files use the library.
func (r *repository) usesGoogleBenchmark() bool {
	sources := r.files.Named(func(base string) bool {
		return slices.Contains([]string{".cc", ".cpp", ".cxx", ".cu", ".hip"}, path.Ext(base)) || base == "CMakeLists.txt"
	})
	return slices.ContainsFunc(sources, func(name string) bool {
		source := r.files.Content(name)
		return strings.Contains(source, "benchmark::benchmark") || strings.Contains(source, "benchmark::State")
	})
}

// programs returns executable files in folders of results whose name passes.
func (r *repository) programs(is func(base string) bool) (all []string) {
	for _, one := range r.files.All {
		top, _, below := strings.Cut(one.Path, "/")
		if below && one.Executable && (strings.HasPrefix(top, "build") || top == "bin" || top == "out") && is(path.Base(one.Path)) &&
			!strings.Contains(one.Path, "CMakeFiles/") {
			all = append(all, one.Path)
		}
	}
	return all
}
