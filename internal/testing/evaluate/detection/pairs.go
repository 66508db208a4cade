package detection

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/detect"
)

// Paired is one cell that was measured in pairs. What B does more is known.
type Paired struct {
	Session  int       `json:"session"`
	Host     string    `json:"host"` // "" in the own runs
	Workload string    `json:"w"`
	Delta    float64   `json:"delta"` // per cent
	A        []float64 `json:"A"`
	B        []float64 `json:"B"`
}

// LoadPairs reads the own A/B runs of a folder: pairs in random order on a loaded
// host.
func LoadPairs(dir string) ([]Paired, error) {
	f, err := os.Open(filepath.Join(dir, "ownbench.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return readPairs("ownbench", z)
}

// LoadRecorded reads what accelgate calibrate --record wrote: a file, or all
// pairs-*.jsonl of a folder.
func LoadRecorded(path string) (all []Paired, err error) {
	paths := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(path, "pairs-*.jsonl")); err != nil || len(paths) == 0 {
			return nil, fmt.Errorf("%s holds no pairs-*.jsonl: record some with accelgate calibrate --record", path)
		}
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		pairs, err := readPairs(path, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, pairs...)
	}
	return all, nil
}

// readPairs reads lines of pairs under a name for its errors.
func readPairs(name string, from io.Reader) (all []Paired, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var p Paired
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, len(all)+1, err)
		}
		if len(p.A) != len(p.B) {
			return nil, fmt.Errorf("%s, line %d: %d and %d values", name, len(all)+1, len(p.A), len(p.B))
		}
		all = append(all, p)
	}
	return all, lines.Err()
}

// ownEffects are the slow-downs of the own runs, as they are in the file.
var ownEffects = []float64{0, 0.01, 0.02, 0.03, 0.05, 0.10, 0.20}

// pairRule describes whether head is slower than base.
type pairRule struct {
	name  string
	alarm func(base, head []float64) bool
}

func interleaved(o detect.Options) func(base, head []float64) bool {
	o.Mode = detect.Interleaved
	return func(base, head []float64) bool { return detect.Judge(base, head, o).Verdict == detect.Regressed }
}

func pairRules() []pairRule {
	plain := func(alarm func(*Trial, float64) bool) func(base, head []float64) bool {
		return func(base, head []float64) bool { return alarm(&Trial{History: base, Head: head}, 0) }
	}
	return []pairRule{
		{"REC-S pairs", interleaved(detect.Options{})}, {"REC-S pairs, least effect 2 %", interleaved(detect.Options{MinEffect: 0.02})},
		{"Mann-Whitney .05 + 2 %", plain(mannWhitney)}, {"Welch .05 + 2 %", plain(welch)},
		{"fixed 2 %", plain(fixed(0.02))}, {"fixed 10 %", plain(fixed(0.10))},
	}
}

// OwnRow judges the own runs by n pairs each. Where nothing was added, the sides
// also change roles.
func (r pairRule) own(all []Paired, n int) Row {
	row := Row{N: n, Rule: r.name, Rates: make([]Rate, len(ownEffects))}
	for _, p := range all {
		for i, effect := range ownEffects {
			if p.Delta != 100*effect {
				continue
			}
			for at := 0; at+n <= len(p.A); at += n {
				row.Rates[i].Add(r.alarm(p.A[at:at+n], p.B[at:at+n]))
				if effect == 0 {
					row.Rates[i].Add(r.alarm(p.B[at:at+n], p.A[at:at+n]))
				}
			}
		}
	}
	return row
}

// ownRows are the rates of the first rule, ours, by n.
func ownRows(all []Paired) []Row {
	var rows []Row
	for _, n := range Ns[1:] {
		rows = append(rows, pairRules()[0].own(all, n))
	}
	return rows
}

// Own prints the rates on the own runs.
func Own(w io.Writer, all []Paired) {
	fmt.Fprint(w, "\n## Pairs in random order on a loaded host, known extra work\n\n")
	header(w, "n, rule", ownEffects)
	for _, n := range Ns[1:] {
		for _, rule := range pairRules() {
			rule.own(all, n).print(w, fmt.Sprintf("%d, %s", n, rule.name))
		}
	}
}

// Repeats are kernel launches in one process, in order.
type Repeats struct {
	GPU    string    `json:"gpu"`
	Kernel string    `json:"kernel"`
	MS     []float64 `json:"ms"`
}

// LoadRepeats reads the GPU repeats of a folder.
func LoadRepeats(dir string) ([]Repeats, error) {
	var file struct {
		Items []Repeats `json:"items"`
	}
	err := readGzip(filepath.Join(dir, "kt_repeats.json.gz"), &file)
	return file.Items, err
}

// kernelEffects are the slow-downs of the kernels.
var kernelEffects = []float64{0, 0.005, 0.01, 0.02, 0.05}

// coldRepeats are the first launches of a burst, which are left out.
const coldRepeats = 4

// kernelRows judges alternating launches of one burst by n pairs. The kernels
// of one GPU say together how noisy it is.
func kernelRows(all []Repeats) []Row {
	cross := gpuNoise(all)
	var rows []Row
	for _, n := range Ns[1:] {
		row := Row{N: n, Rule: "REC-S pairs", Rates: make([]Rate, len(kernelEffects))}
		for _, r := range all {
			alarm := interleaved(detect.Options{Cross: cross[r.GPU]})
			for at := coldRepeats; at+2*n <= len(r.MS); at += 2 * n {
				base, head := alternate(r.MS[at : at+2*n])
				for i, effect := range kernelEffects {
					row.Rates[i].Add(alarm(base, slower(head, effect)))
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func alternate(values []float64) (even, odd []float64) {
	for i, v := range values {
		if i%2 == 0 {
			even = append(even, v)
		} else {
			odd = append(odd, v)
		}
	}
	return even, odd
}

// gpuNoise asks package detect, with all kernels of a GPU as one report of 5 pairs.
func gpuNoise(all []Repeats) map[string]float64 {
	cells := map[string][]detect.Cell{}
	for _, r := range all {
		base, head := alternate(r.MS[coldRepeats:min(len(r.MS), coldRepeats+10)])
		cells[r.GPU] = append(cells[r.GPU], detect.Cell{Base: base, Head: head, Options: detect.Options{Mode: detect.Interleaved}})
	}
	noise := map[string]float64{}
	for gpu, c := range cells {
		noise[gpu] = detect.JudgeReport(c, 0).PairCross
	}
	return noise
}

// Kernels prints the rates on GPU kernels, and how much warm-up is found in
// them.
func Kernels(w io.Writer, all []Repeats) {
	fmt.Fprint(w, "\n## GPU kernels, alternating launches\n\n")
	header(w, "n, rule", kernelEffects)
	for _, r := range kernelRows(all) {
		r.print(w, fmt.Sprintf("%d, %s", r.N, r.Rule))
	}
	var warm, steady Rate
	for _, r := range all {
		first, ok := detect.Warmup(r.MS)
		warm.Add(first > 0)
		steady.Add(ok)
	}
	fmt.Fprintf(w, "\nBursts with warm-up: %v %%; steady after it: %v %%.\n", warm, steady)
}
