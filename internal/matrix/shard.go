package matrix

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxShards bounds the shards of a matrix: GitHub starts at most 256 jobs per
// matrix and run.
const MaxShards = 256

// Shard is one of several parts of a matrix.
type Shard struct {
	Index int // from 1
	Of    int
}

// String returns "2/3".
func (s Shard) String() string { return strconv.Itoa(s.Index) + "/" + strconv.Itoa(s.Of) }

// ParseShard reads "2/3".
func ParseShard(text string) (Shard, error) {
	index, of, _ := strings.Cut(text, "/")
	var s Shard
	s.Index, _ = strconv.Atoi(index)
	s.Of, _ = strconv.Atoi(of)
	if s.Index < 1 || s.Index > s.Of || s.Of > MaxShards || s.String() != text {
		return Shard{}, fmt.Errorf("shard %.40q: write INDEX/OF such as 2/3, INDEX from 1 to OF, OF at most %d", text, MaxShards)
	}
	return s, nil
}
