package reports

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/stats"
	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// joined is how many sessions in a row of one workload and one amount of work make
// a cell of 30 pairs.
const joined = 3

// reportCells is the size of a report of pairs.
const reportCells = 80

// ownKey names a workload and its extra work in percent.
type ownKey struct {
	workload string
	delta    float64
}

// joinPairs joins sessions. Where nothing was added, the sides of every second cell
// change roles.
func joinPairs(all []detectors.Paired) map[ownKey][]number {
	byKey := map[ownKey][]detectors.Paired{}
	for _, p := range all {
		k := ownKey{p.Workload, p.Delta}
		byKey[k] = append(byKey[k], p)
	}
	cells := map[ownKey][]number{}
	for k, sessions := range byKey {
		for part := range slices.Chunk(sessions, joined) {
			if len(part) < joined {
				continue
			}
			var n number
			for _, p := range part {
				n.base, n.head = append(n.base, p.A...), append(n.head, p.B...)
			}
			if k.delta == 0 && len(cells[k])%2 == 1 {
				n.base, n.head = n.head, n.base
			}
			cells[k] = append(cells[k], n)
		}
	}
	return cells
}

// ownPairs are reports of the own runs on a loaded host: cells are drawn without
// replacement, again in each of so many rounds.
func ownPairs(all []detectors.Paired, rounds int) road {
	cells := joinPairs(all)
	type place struct {
		workload string
		at       int
	}
	var null []place
	for k, list := range cells {
		for i := range list {
			if k.delta == 0 {
				null = append(null, place{k.workload, i})
			}
		}
	}
	slices.SortFunc(null, func(a, b place) int {
		if a.workload != b.workload {
			return strings.Compare(a.workload, b.workload)
		}
		return a.at - b.at
	})
	r := road{name: "pairs in stages, loaded host, known extra work", paired: true, policy: gate.DefaultPolicy()}
	rng := rand.New(rand.NewPCG(1, 30))
	for range rounds {
		rng.Shuffle(len(null), func(i, j int) { null[i], null[j] = null[j], null[i] })
		for part := range slices.Chunk(slices.Clone(null), reportCells) {
			if len(part) < reportCells {
				continue
			}
			s := sample{slowed: func(cell int, effect float64) number {
				p := part[cell]
				list := cells[ownKey{p.workload, 100 * effect}]
				return list[p.at%len(list)]
			}}
			for _, p := range part {
				s.null = append(s.null, cells[ownKey{p.workload, 0}][p.at])
			}
			r.samples = append(r.samples, s)
		}
	}
	return r
}

// kernelPairs are reports of alternating launches of GPU kernels, three bursts of one
// GPU and kernel joined, each as a share of its own median.
func kernelPairs(all []detectors.Repeats, minimumEffect float64) road {
	r := road{name: "pairs in stages, GPU kernels", paired: true, policy: gate.DefaultPolicy()}
	r.policy.MinEffect = minimumEffect
	var cells []number
	for i := 0; i+joined <= len(all); i += joined {
		var n number
		for _, burst := range all[i : i+joined] {
			if burst.GPU != all[i].GPU {
				break
			}
			warm := burst.MS[coldRepeats:]
			middle := stats.Median(warm)
			for k := 0; k+1 < len(warm); k += 2 {
				n.base, n.head = append(n.base, warm[k]/middle), append(n.head, warm[k+1]/middle)
			}
		}
		if len(n.base) >= 30 {
			cells = append(cells, n)
		}
	}
	for part := range slices.Chunk(cells, reportCells) {
		if len(part) == reportCells {
			r.samples = append(r.samples, injected(part))
		}
	}
	return r
}

const coldRepeats = 4

// injected slows the heads of cells by a factor.
func injected(null []number) sample {
	return sample{null: null, slowed: func(cell int, effect float64) number {
		n := null[cell]
		n.head, n.more = slower(n.head, effect), slower(n.more, effect)
		return n
	}}
}

// historyMethod are reports of n runs of the new code against earlier ones.
func historyMethod(sets []detectors.Set, n int, name string) road {
	r := road{name: name, policy: gate.DefaultPolicy()}
	for _, cells := range detectors.NullReports(sets, n) {
		var null []number
		for _, c := range cells {
			one := number{history: runsOf(c.Base), head: c.Head}
			if n > 1 {
				one.sessions = n
			}
			null = append(null, one)
		}
		r.samples = append(r.samples, injected(null))
	}
	return r
}

// nextRunMethod are reports of one run that comes after the newest of the history on the
// default branch. The code changed before both.
func nextRunMethod(sets []detectors.Set, name string) road {
	r := historyMethod(sets, 2, name)
	r.next, r.policy.NextRun = true, true
	return r
}

// sessionMethod are reports of one session after another on the loaded host, without
// pairs and history: 5 values each, and 3 more for suspects.
func sessionMethod(all []detectors.Paired) road {
	r := road{name: "fixed threshold, sessions of a loaded host", policy: gate.DefaultPolicy()}
	var before, now map[ownKey]detectors.Paired
	flush := func() {
		var s []number
		for _, k := range sortedKeys(now) {
			if old, ok := before[k]; ok {
				s = append(s, number{base: old.A[:5], head: now[k].A[:5], more: now[k].A[5:8]})
			}
		}
		if len(s) > 0 {
			r.samples = append(r.samples, injected(s))
		}
	}
	for i, p := range all {
		if i > 0 && p.Session != all[i-1].Session {
			flush()
			before, now = now, nil
		}
		if now == nil {
			now = map[ownKey]detectors.Paired{}
		}
		now[ownKey{p.Workload, p.Delta}] = p
	}
	flush()
	return r
}

func sortedKeys(of map[ownKey]detectors.Paired) []ownKey {
	var keys []ownKey
	for k := range of {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b ownKey) int {
		if a.workload != b.workload {
			return strings.Compare(a.workload, b.workload)
		}
		return int(a.delta - b.delta)
	})
	return keys
}
