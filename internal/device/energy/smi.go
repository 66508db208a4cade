package energy

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

// smi samples GPUs by one nvidia-smi that runs until it is ended.
type smi struct {
	clock  Clock
	worker worker.Worker
	field  string
	uuids  []string
}

func newSMI(opts Options, field, method string, uuids []string) *Meter {
	w := &worker.Isolated{Environ: opts.Environ, MaxStdout: maxSamples}
	return &Meter{scope: uuids, method: method, sampler: &smi{opts.Clock, w, field, uuids}}
}

// sample implements [sampler].
func (s *smi) sample(ctx context.Context) []track {
	start := s.look()
	// The error is that of ctx, which ends every run of nvidia-smi, or is
	// about a process that cannot be killed; samples before it are good.
	resp, err := s.worker.Do(ctx, worker.Request{
		Args: []string{"nvidia-smi", "--query-gpu=timestamp,uuid," + s.field, "--format=csv,noheader,nounits",
			"--id=" + strings.Join(s.uuids, ","), fmt.Sprintf("--loop-ms=%d", period.Milliseconds())},
		Env: []string{"TZ=UTC0"}, // where it is heeded, no change to summer time is among the stamps
	})
	fault := ""
	switch {
	case resp.StdoutTruncated:
		fault = "nvidia-smi had printed more than is kept: measure a shorter time"
	case err == nil:
		fault = fmt.Sprintf("nvidia-smi ended early (%s): run it with -q -d POWER to see what is wrong",
			strings.TrimPrefix(resp.Reason()+lastWords(resp.Log), ": "))
	case resp.End != worker.Cancelled:
		fault = fmt.Sprintf("nvidia-smi failed (%v): run it by hand", err)
	}
	return tracksOf(resp.Stdout, s.uuids, mapping{start, s.look()}, fault)
}

// instant is one moment by both clocks.
type instant struct {
	now  time.Duration
	wall time.Time
}

// looks is how often the clocks are read at most, and tight the time between two
// readings of one clock in which the other is read exactly enough.
const (
	looks = 100
	tight = time.Millisecond
)

// look reads the wall clock between two readings of the other. On a busy machine
// the process may wait between them: of several looks the shortest counts.
func (s *smi) look() instant {
	var best instant
	least := time.Duration(math.MaxInt64)
	for n := 0; n < looks && least > tight; n++ {
		before := s.clock.Now()
		wall := s.clock.Wall().Round(0) // without its monotonic part, which would hide that the clock was set
		if took := s.clock.Now() - before; took < least {
			best, least = instant{before + took/2, wall}, took
		}
	}
	return best
}

// mapping maps times of day between two instants to the caller's clock.
type mapping struct{ start, end instant }

// stepped reports whether the time of day was set in between. Slewing by NTP
// changes its rate by at most 500 parts in a million.
func (m mapping) stepped() bool {
	passed := m.end.now - m.start.now
	off := m.end.wall.Sub(m.start.wall) - passed
	return off.Abs() > 50*time.Millisecond+passed/1000
}

// zone is the time zone of stamps, of which the first comes soon after the
// start. No zone is off by anything but quarters of an hour.
func (m mapping) zone(first time.Time) time.Duration {
	return first.Sub(m.start.wall).Round(15 * time.Minute)
}

func (m mapping) at(stamp time.Time, zone time.Duration) time.Duration {
	passed := stamp.Sub(m.start.wall) - zone
	if whole := m.end.wall.Sub(m.start.wall); whole > 0 {
		passed = time.Duration(float64(passed) / float64(whole) * float64(m.end.now-m.start.now))
	}
	return m.start.now + passed
}

// holds reports whether a sample can have been taken at this time.
func (m mapping) holds(at time.Duration) bool {
	return at >= m.start.now-maxGap && at <= m.end.now+maxGap
}

// tracksOf reads samples; fault says why they end.
func tracksOf(out []byte, uuids []string, m mapping, fault string) []track {
	series := map[string]*power{}
	var tracks []track
	if m.stepped() {
		out, fault = nil, "the system's clock was set in the middle: measure again"
	}
	for _, uuid := range uuids {
		p := &power{seriesOf(uuid, fault)}
		series[uuid] = p
		tracks = append(tracks, p)
	}
	var zone time.Duration
	first := true
	for line := range strings.Lines(string(out)) {
		stamp, uuid, watts, ok := parseSample(line)
		if first && !stamp.IsZero() {
			zone, first = m.zone(stamp), false
		}
		if p, at := series[uuid], m.at(stamp, zone); ok && p != nil && m.holds(at) {
			p.add(at, watts)
		}
	}
	return tracks
}

func seriesOf(scope, fault string) series { return series{scope: scope, fault: fault, gap: maxGap} }

// stampLayout is how nvidia-smi prints a timestamp.
const stampLayout = "2006/01/02 15:04:05.000"

// parseSample reads a line like
// "2026/03/04 05:06:07.089, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, 71.35".
// A line of another kind, or one that was cut in the middle, is not ok: the
// last line of a child that was ended may lack digits.
func parseSample(line string) (stamp time.Time, uuid string, watts float64, ok bool) {
	line, whole := strings.CutSuffix(line, "\n")
	cells := strings.Split(line, ",")
	if !whole || len(cells) != 3 {
		return stamp, "", math.NaN(), false
	}
	stamp, err := time.Parse(stampLayout, strings.TrimSpace(cells[0]))
	watts, ok = parseWatts(cells[2])
	return stamp, strings.TrimSpace(cells[1]), watts, ok && err == nil
}
