package matrix_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/matrix"
)

func FuzzParseShard(f *testing.F) {
	for _, seed := range []string{"1/1", "2/3", "256/256", "3/2", "0/1", "-1/2", "+1/2", "01/2", "1/257", "1/", "/", "1/2/3", "9999999999999999999/1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := matrix.ParseShard(text)
		if err != nil {
			return
		}
		if s.String() != text || s.Index < 1 || s.Index > s.Of || s.Of > matrix.MaxShards {
			t.Errorf("ParseShard(%q) = %+v", text, s)
		}
	})
}

func TestParseShard(t *testing.T) {
	if s, err := matrix.ParseShard("2/3"); err != nil || s != (matrix.Shard{Index: 2, Of: 3}) {
		t.Errorf("2/3 is %+v, %v", s, err)
	}
	for _, text := range []string{"", "2", "3/2", "0/2", "1/257", "01/2", "1/2/3", " 1/2"} {
		if s, err := matrix.ParseShard(text); err == nil {
			t.Errorf("ParseShard(%q) = %v, want an error", text, s)
		}
	}
}
