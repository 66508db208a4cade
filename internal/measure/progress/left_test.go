package progress

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
)

// TestLeftCountsEachMeasurementOnce: what an earlier stage took is not charged to the first
// measurements of the next one.
func TestLeftCountsEachMeasurementOnce(t *testing.T) {
	s, now := newState(), time.Unix(0, 0)
	measure := func(round, rounds int) {
		s.started("a", now)
		now = now.Add(10 * time.Second)
		s.finished(of("a", round, rounds), now)
	}
	s.stage(Stage{Todo: map[string]int{"a": 10}}, now)
	for round := range 10 {
		measure(round+1, 10)
	}
	s.endStage()
	s.stage(Stage{Todo: map[string]int{"a": 20}, Later: map[string]float64{"a": 1.5}}, now)
	measure(1, 20)
	if left, ok := s.left(now); !ok || left != 205*time.Second {
		t.Errorf("%v are left of 19 measurements of 10 s and 1.5 that are expected", left)
	}
}

func of(id string, round, rounds int) Measurement {
	return Measurement{Round: round, Rounds: rounds, Result: bench.Result{Cell: bench.Cell{Raw: id}, Outcome: bench.Passed}}
}

// TestLeftIsAboutWhatIsLeft: from the second minute on, what is said to be left is right
// within a factor of 1.5 most of the time, in runs whose pairs are looked at in stages.
// Whether one of two cells goes on is chance, so of few cells no more can be known.
func TestLeftIsAboutWhatIsLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		cells, lost int
		factor      float64
		pair        time.Duration
		want        float64 // percent of the time
	}{
		{"two benchmarks that lost 35 %", 2, 2, 1.35, 30 * time.Second, 88},
		{"40 cells of which 3 lost 35 %", 40, 3, 1.35, 6 * time.Second, 65},
		{"40 unchanged cells", 40, 0, 1, 6 * time.Second, 65},
		{"200 unchanged cells", 200, 0, 1, 6 * time.Second, 85},
	} {
		rng := rand.New(rand.NewPCG(61, uint64(c.cells)))
		good, all := 0, 0
		for range 30 {
			run := newRun(rng, c.cells, c.lost, c.factor, c.pair)
			run.measure()
			g, n := run.good()
			good, all = good+g, all+n
		}
		share := 100 * float64(good) / float64(all)
		t.Logf("%s: within a factor of 1.5 in %.0f %% of the time", c.name, share)
		if share < c.want {
			t.Errorf("%s: within a factor of 1.5 in %.0f %% of the time, want %.0f %%", c.name, share, c.want)
		}
	}
}

// simulated is a run on a clock of its own.
type simulated struct {
	rng   *rand.Rand
	cells []detect.Cell // with all pairs that they may take
	pair  time.Duration
	s     state
	now   time.Time
	said  []said
}

type said struct {
	at   time.Time
	left time.Duration
}

func newRun(rng *rand.Rand, cells, lost int, factor float64, pair time.Duration) *simulated {
	r := &simulated{rng: rng, pair: pair, s: newState(), now: time.Unix(0, 0)}
	for i := range cells {
		c, noise, slower := detect.Cell{Options: detect.Options{MinEffect: 0.02}}, 0.005*math.Pow(8, rng.Float64()), 1.0
		if i < lost {
			slower = factor
		}
		for range detect.DefaultStages().Total() {
			c.Base, c.Head = append(c.Base, math.Exp(noise*rng.NormFloat64())), append(c.Head, slower*math.Exp(noise*rng.NormFloat64()))
		}
		r.cells = append(r.cells, c)
	}
	return r
}

// measure follows the stages as a session does.
func (r *simulated) measure() {
	stages, has := detect.DefaultStages(), make([]int, len(r.cells))
	need, later := make([]int, len(r.cells)), map[string]float64{}
	for i := range r.cells {
		need[i] = stages.Looks[0].Pairs
		later[name(i)] = stages.Ahead() - float64(need[i])
	}
	for more := true; more; {
		r.stage(has, need, later)
		copy(has, need)
		cells := make([]detect.Cell, len(r.cells))
		for i, c := range r.cells {
			cells[i] = detect.Cell{Base: c.Base[:has[i]], Head: c.Head[:has[i]], Options: c.Options}
		}
		more, later = false, map[string]float64{}
		for i, e := range detect.JudgeStages(cells, stages, 0) {
			if e.Need > 0 {
				need[i], more = e.Need, true
				later[name(i)] = stages.Later(e.P, e.Used, e.Need)
			}
		}
	}
}

func name(i int) string { return string(rune('a' + i)) }

func (r *simulated) stage(has, need []int, later map[string]float64) {
	todo, rounds := map[string]int{}, 0
	for i := range r.cells {
		if n := need[i] - has[i]; n > 0 {
			todo[name(i)], rounds = n, max(rounds, n)
		}
	}
	r.s.stage(Stage{Todo: todo, Later: later}, r.now)
	defer r.s.endStage()
	for round := range rounds {
		for i := range r.cells {
			n := todo[name(i)]
			if round >= n {
				continue
			}
			r.s.started(name(i), r.now)
			r.now = r.now.Add(time.Duration(float64(r.pair) * math.Exp(0.1*r.rng.NormFloat64())))
			r.s.finished(of(name(i), round+1, n), r.now)
			if left, ok := r.s.left(r.now); ok {
				r.said = append(r.said, said{r.now, left})
			}
		}
	}
}

// good counts the estimates from the second minute on, and those that are right. The last
// pair is left out: its time counts as spent.
func (r *simulated) good() (n, all int) {
	for _, s := range r.said {
		left := r.now.Sub(s.at)
		if s.at.Sub(time.Unix(0, 0)) < 2*time.Minute || left < 2*r.pair {
			continue
		}
		all++
		if ratio := s.left.Seconds() / left.Seconds(); ratio >= 1/1.5 && ratio <= 1.5 {
			n++
		}
	}
	return n, all
}
