package load

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
)

// Digest returns the SHA-256, in hexadecimal, of everything that decides what
// is sent when: equal digests are equal schedules. It is taken over lines of
// text for the plan, floats by their bits, and then every arrival as eight
// bytes of nanoseconds, most significant first. It is the same on every
// machine and for every version of Go.
func (s Schedule) Digest() string {
	p, h := s.plan, sha256.New()
	fmt.Fprintf(h, "load schedule 1\nmode %s\nconcurrency %d\nrate %016x\nburstiness %016x\nburst %d\nramp %d %t\nrequests %d\n"+
		"duration %d\nwarmup %d %d\ndrain %d\nseed %d\nwindow %d %d %d %d\narrivals %d\n",
		p.Mode, p.Concurrency, math.Float64bits(p.Rate), math.Float64bits(p.Burstiness), p.Burst, int64(p.Ramp), p.AutoRamp, p.Requests,
		int64(p.Duration), p.Warmup.Requests, int64(p.Warmup.Duration), int64(p.Drain), p.Seed,
		s.first, s.end, int64(s.from), int64(s.to), len(s.arrivals))
	if p.ramps() {
		fmt.Fprintf(h, "rate end %016x %s\n", math.Float64bits(p.RateEnd), p.Curve)
	}
	var chunk []byte
	for i, at := range s.arrivals {
		chunk = binary.BigEndian.AppendUint64(chunk, uint64(at))
		if len(chunk) == 4096 || i == len(s.arrivals)-1 {
			h.Write(chunk)
			chunk = chunk[:0]
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
