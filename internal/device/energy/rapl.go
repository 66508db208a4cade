package energy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

const raplMethod = "rapl-package-delta"

const (
	// maxZoneW is more than a package or its memory can draw. A counter that
	// ran faster was set back or is broken.
	maxZoneW = 4000
	maxZones = 1024
	maxFile  = 256 // bytes; a file of powercap holds a name or a number
)

var (
	raplPackage = lazyregexp.New(`^intel-rapl:[0-9]{1,4}$`)
	raplChild   = lazyregexp.New(`^(intel-rapl:[0-9]{1,4}):[0-9]{1,4}$`)
	packageName = lazyregexp.New(`^package-[0-9]{1,4}(-die-[0-9]{1,4})?$`)
)

// zone is a domain of RAPL: a package, or the memory behind it.
type zone struct {
	scope string
	file  string // energy_uj
	wrap  uint64 // microjoules at which the counter starts over
}

type rapl struct {
	now   func() time.Duration
	zones []zone
}

// detectRAPL finds packages below root and the memory that belongs to them. A
// package that cannot be read makes all of them absent, because a part of the
// CPUs is not what was asked for.
func detectRAPL(now func() time.Duration, root string) (*Meter, []Absence) {
	dir := filepath.Join(cmp.Or(root, "/"), "sys", "class", "powercap")
	names, err := list(dir)
	if err != nil {
		return nil, []Absence{{"cpu", fmt.Sprintf("the entries of powercap cannot be listed (%v): "+
			"measure on a host that is not a virtual machine, with the kernel's module intel_rapl_msr", err)}}
	}
	var zones []zone
	var absent []Absence
	for _, name := range names {
		number, ok := packageNumber(dir, name)
		if !ok || slices.ContainsFunc(zones, func(z zone) bool { return z.scope == "cpu-package-"+number }) {
			continue
		}
		z, err := openZone(dir, name, "cpu-package-"+number)
		if err != nil {
			return nil, []Absence{{"cpu", err.Error()}}
		}
		zones = append(zones, z)
		for _, child := range names {
			if !isMemory(dir, name, child) {
				continue
			}
			if z, err := openZone(dir, child, "dram-"+number); err != nil {
				absent = append(absent, Absence{"dram-" + number, err.Error()})
			} else {
				zones = append(zones, z)
			}
		}
	}
	if len(zones) == 0 {
		return nil, []Absence{{"cpu", "powercap lists no package of a CPU: measure on a host that is not a virtual machine, " +
			"with the kernel's module intel_rapl_msr"}}
	}
	slices.SortFunc(zones, func(a, b zone) int { return strings.Compare(a.scope, b.scope) })
	m := &Meter{method: raplMethod, sampler: &rapl{now, zones}}
	for _, z := range zones {
		m.scope = append(m.scope, z.scope)
	}
	return m, absent
}

// list returns the entries of a folder, sorted.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, bare(err)
	}
	var names []string
	for _, e := range entries[:min(len(entries), maxZones)] {
		names = append(names, e.Name())
	}
	return names, nil
}

// packageNumber returns "0" for a zone that is named package-0.
func packageNumber(dir, zone string) (string, bool) {
	if !raplPackage.MatchString(zone) {
		return "", false
	}
	name, err := readFile(filepath.Join(dir, zone, "name"))
	if err != nil || !packageName.MatchString(name) {
		return "", false
	}
	return strings.TrimPrefix(name, "package-"), true
}

func isMemory(dir, parent, zone string) bool {
	match := raplChild.FindStringSubmatch(zone)
	if match == nil || match[1] != parent {
		return false
	}
	name, err := readFile(filepath.Join(dir, zone, "name"))
	return err == nil && name == "dram"
}

// openZone reads a zone once, to see whether it can be.
func openZone(dir, name, scope string) (zone, error) {
	z := zone{scope: scope, file: filepath.Join(dir, name, "energy_uj")}
	wrap, err := readCount(filepath.Join(dir, name, "max_energy_range_uj"))
	if err != nil {
		return z, fmt.Errorf("max_energy_range_uj of %s cannot be read (%w): look at the folder %s of powercap", scope, err, name)
	}
	if z.wrap = wrap; z.gap() < 2*period {
		return z, fmt.Errorf("the counter of %s starts over after %d microjoules, too soon to be watched: "+
			"look at max_energy_range_uj in the folder %s of powercap", scope, wrap, name)
	}
	if _, err := readCount(z.file); err != nil {
		return z, unreadable(err, scope, name)
	}
	return z, nil
}

func unreadable(err error, scope, name string) error {
	if errors.Is(err, fs.ErrPermission) { // Linux since 5.10, because of CVE-2020-8694
		return errors.New("energy_uj is readable by root only: run as root, or let root run chmod a+r on it, " +
			"which lets all users guess at what others compute")
	}
	return fmt.Errorf("energy_uj of %s cannot be read (%w): look at the folder %s of powercap", scope, err, name)
}

// gap is the longest time between two samples: in a quarter of the time that
// a kilowatt takes to the counter's end, it cannot have passed unseen.
func (z zone) gap() time.Duration {
	seconds := min(float64(z.wrap)/1e6/1000/4, maxGap.Seconds())
	return time.Duration(seconds * float64(time.Second))
}

// sample implements [sampler].
func (r *rapl) sample(ctx context.Context) []track {
	readers := make([]*zoneReader, len(r.zones))
	tracks := make([]track, len(r.zones))
	for i, z := range r.zones {
		readers[i] = &zoneReader{zone: z, counter: counter{series{scope: z.scope, gap: z.gap()}}}
		tracks[i] = &readers[i].counter
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		for _, reader := range readers {
			reader.read(r.now)
		}
		select {
		case <-ctx.Done():
			return tracks
		case <-tick.C:
		}
	}
}

// zoneReader makes a counter that never starts over of one that does.
type zoneReader struct {
	zone
	counter
	last  uint64
	total float64 // joules since the first sample
}

func (r *zoneReader) read(now func() time.Duration) {
	if r.fault != "" {
		return
	}
	before := now()
	count, err := readCount(r.file)
	after := now()
	if err != nil {
		r.fault = fmt.Sprintf("its counter could not be read any more (%v): see whether the CPU or its driver was taken away", err)
		return
	}
	r.count(before+(after-before)/2, count)
}

// count adds a sample.
func (r *zoneReader) count(at time.Duration, count uint64) {
	if count > r.wrap {
		r.fault = fmt.Sprintf("its counter shows %d microjoules, above its own limit: look at its folder in powercap", count)
		return
	}
	n := len(r.points)
	if n == 0 {
		r.last = count
		r.add(at, 0)
		return
	}
	passed := at - r.points[n-1].at
	if passed <= 0 {
		return
	}
	step := count - r.last
	if count < r.last {
		step = r.wrap - r.last + count
	}
	if used := float64(step) / 1e6; used > maxZoneW*passed.Seconds()+1 {
		r.fault = "its counter was set back or jumped: see what else writes energy_uj, and measure again"
		return
	}
	r.last = count
	r.total += float64(step) / 1e6
	r.add(at, r.total)
}

// readCount reads a number of microjoules.
func readCount(path string) (uint64, error) {
	text, err := readFile(path)
	if err != nil {
		return 0, err
	}
	return parseCount(text)
}

func parseCount(text string) (uint64, error) {
	count, err := strconv.ParseUint(text, 10, 64)
	if err != nil || count > 1<<62 {
		return 0, fmt.Errorf("%.40q is not a number of microjoules", text)
	}
	return count, nil
}

// readFile reads the beginning of a small file, without white space around it.
func readFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", bare(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	return strings.TrimSpace(string(data)), bare(err)
}

// bare drops the path of an error, which is long and says nothing new.
func bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
