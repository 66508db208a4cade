package plan

import (
	"fmt"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// ShardCount is a flag: how many parts, or auto.
type ShardCount struct {
	n    int // 0 where it was not given
	auto bool
}

// Set reads a number of parts, or auto.
func (s *ShardCount) Set(text string) error {
	if s.auto = text == "auto"; s.auto {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > matrix.MaxShards {
		return fmt.Errorf("use 1 to %d, or auto", matrix.MaxShards)
	}
	s.n = n
	return nil
}

// String is empty: the flag has no default.
func (s *ShardCount) String() string { return "" }

// Type is what help texts call the value.
func (s *ShardCount) Type() string { return "n" }
func (s *ShardCount) given() bool  { return s.auto || s.n > 0 }

// text is what the flag was given.
func (s *ShardCount) text() string {
	if s.auto {
		return "auto"
	}
	return strconv.Itoa(s.n)
}

// split packs the cells as flags want, or into so many parts where they do not
// say.
func (o *Options) split(p *measure.Plan, minimum int) (measure.Sharding, error) {
	switch {
	case o.Shards.auto:
		return p.Fit(o.Longest)
	case o.Shards.n > 0:
		return p.Shards(o.Shards.n)
	}
	return p.Shards(max(minimum, 1))
}

// of are the options with the longest time that a runner's entry allows, which flags win
// over. Without times of earlier runs it cannot count.
func (o *Options) of(r *config.Runner) *Options {
	if r.Longest == 0 || o.Longest > 0 || o.Shards.given() || len(o.Durations) == 0 {
		return o
	}
	one := *o
	one.Longest, one.Shards = r.Longest, ShardCount{auto: true}
	return &one
}

// warning returns where a shard takes longer than it should, and what would help.
func (o *Options) warning(s measure.Sharding) []string {
	maximum := o.Longest
	switch {
	case maximum == 0 || s.Makespan <= maximum:
		return nil
	case o.Shards.auto:
		return []string{
			fmt.Sprintf(
				"cells that must stay on one host take %s alone: raise --max-minutes or longest of the runner, or split what they load",
				s.Makespan.Round(time.Second)),
		}
	}
	return []string{
		fmt.Sprintf("the longest of %s is expected to take %s: use --shards auto, or raise --max-minutes or longest of the runner",
			text.Plural(len(s.Shards), "shard"), s.Makespan.Round(time.Second)),
	}
}
