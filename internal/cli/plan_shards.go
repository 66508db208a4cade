package cli

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// shardCount is a flag: how many parts, or auto.
type shardCount struct {
	n    int // 0 where it was not given
	auto bool
}

func (s *shardCount) Set(text string) error {
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

func (s *shardCount) String() string { return "" }
func (s *shardCount) Type() string   { return "n" }
func (s *shardCount) given() bool    { return s.auto || s.n > 0 }

// minutes is a flag that takes a number of minutes.
type minutes period

func (m *minutes) Set(s string) error {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 1e-3) || n > 1e6 {
		return errors.New("use a number of minutes, from 0.001 on")
	}
	*m = minutes(n * float64(time.Minute))
	return nil
}

func (m *minutes) String() string { return "" }
func (m *minutes) Type() string   { return "m" }

// split packs the cells as flags want, or into so many parts where they do not
// say.
func (o *planning) split(p *measure.Plan, least int) (measure.Sharding, error) {
	switch {
	case o.shards.auto:
		return p.Fit(time.Duration(o.most))
	case o.shards.n > 0:
		return p.Shards(o.shards.n)
	}
	return p.Shards(max(least, 1))
}

// warning says where a shard takes longer than it should, and what would help.
func (o *planning) warning(s measure.Sharding) []string {
	most := time.Duration(o.most)
	switch {
	case most == 0 || s.Makespan <= most:
		return nil
	case o.shards.auto:
		return []string{fmt.Sprintf("cells that must stay on one machine take %s alone: raise --max-minutes, or split what they load",
			s.Makespan.Round(time.Second))}
	}
	return []string{fmt.Sprintf("the longest of %s is expected to take %s: use --shards auto, or raise --max-minutes",
		text.Plural(len(s.Shards), "shard"), s.Makespan.Round(time.Second))}
}
