package energy

import "time"

// Packages are the counters of all processor packages of a machine and of the memory
// behind them, which are read at the ends of a span only. It is safe for concurrent use.
type Packages struct{ zones []zone }

// OpenPackages returns the counters below root, "" for "/"; nil where one of them is
// absent or cannot be read, as by other users than root.
func OpenPackages(root string) *Packages {
	m, _ := detectRAPL(nil, root)
	if m == nil {
		return nil
	}
	return &Packages{m.sampler.(*rapl).zones}
}

// Reads are the counts at one moment.
type Reads []uint64

// Read reads all counters, which takes some microseconds each; nil where one cannot be
// read.
func (p *Packages) Read() Reads {
	counts := make(Reads, len(p.zones))
	for i, z := range p.zones {
		var err error
		if counts[i], err = readCount(z.file); err != nil || counts[i] > z.wrap {
			return nil
		}
	}
	return counts
}

// maxWatts is more than a package draws for long. It bounds how often a counter can have
// started over.
const maxWatts = 500

// Joules returns the energy between two moments. It is not known where a counter may have
// started over twice, which takes minutes, or was set back.
func (p *Packages) Joules(from, to Reads, passed time.Duration) (joules float64, ok bool) {
	if from == nil || to == nil || passed <= 0 {
		return 0, false
	}
	for i, z := range p.zones {
		step := to[i] - from[i]
		if to[i] < from[i] {
			step = z.wrap - from[i] + to[i]
		}
		used := float64(step) / 1e6
		if passed.Seconds() > float64(z.wrap)/1e6/maxWatts || used > maxZoneW*passed.Seconds()+1 {
			return 0, false
		}
		joules += used
	}
	return joules, true
}
