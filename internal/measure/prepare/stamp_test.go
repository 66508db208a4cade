package prepare

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStampCountsForADay: what was built long ago, or by a clock that ran ahead, is built again.
func TestStampCountsForADay(t *testing.T) {
	c := &Checkout{Dir: t.TempDir(), Now: time.Now}
	id, err := c.note("s", stamp{Key: "k", Outputs: "o"})
	if err != nil {
		t.Fatal(err)
	}
	for age, want := range map[time.Duration]bool{0: true, maxAge - time.Minute: true, maxAge + time.Minute: false, -time.Hour: false} {
		at := c.Now().Add(-age)
		if err := os.Chtimes(c.stampPath("s"), at, at); err != nil {
			t.Fatal(err)
		}
		if s, ok := c.stamp("s"); ok != want || ok && s.ID != id {
			t.Errorf("%v old: %+v, %v, want %v", age, s, ok, want)
		}
	}
	if err := c.forget("s"); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.stamp("s"); ok {
		t.Error("a forgotten stamp counts")
	}
}

// FuzzStamp: the program under test can write a stamp.
func FuzzStamp(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"key":"k","outputs":"o","id":"i"}`, `{"id":1}`, "[", "null"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &Checkout{Dir: t.TempDir(), Now: time.Now}
		path := c.stampPath(Whole)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if s, ok := c.stamp(Whole); ok && (s.ID == "" || len(data) > maxStamp) {
			t.Errorf("%q counts", data)
		}
	})
}
