package runner_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure/runner"
)

func entry(id string, round int, outcome bench.Outcome) runner.Entry {
	r := passed(1)
	r.Cell, r.Outcome = cells(id)[0], outcome
	return runner.Entry{Key: "k", Round: round, Result: r}
}

func TestContinueJournalDropsALineThatWasCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := runner.CreateJournal(path, []byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if err := j.Append(entry(id, 1, bench.Passed)); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(data) {
		if err := os.WriteFile(path, data[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		j, entries, err := runner.ContinueJournal(path, []byte("key"))
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if want := strings.Count(string(data[:cut]), "\n"); len(entries) != want {
			t.Fatalf("cut at %d: %d entries, want %d", cut, len(entries), want)
		}
		if err := j.Append(entry("c", 1, bench.Passed)); err != nil {
			t.Fatal(err)
		}
		j.Close()
		again, _, err := runner.ReadJournal(path, []byte("key"))
		if err != nil || len(again) != len(entries)+1 || again[len(entries)].Result.Cell.ID() != "c" {
			t.Fatalf("cut at %d: after appending %d entries, %v", cut, len(again), err)
		}
	}
}

// signed is the line of an entry in a journal whose key is "key".
func signed(entry string) string {
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write([]byte(entry))
	return fmt.Sprintf("{\"mac\":\"%x\",\"entry\":%s}\n", mac.Sum(nil), entry)
}

// TestJournalRefusesWhatWasEdited: --resume once took each line as it was.
func TestJournalRefusesWhatWasEdited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	good := signed(`{"key":"k","round":1,"result":{"cell":{"id":"a"},"outcome":"passed","samples":[{"metric":"tps","values":[5]}]}}`)
	for name, c := range map[string]struct {
		text, key string
		ok        bool
	}{
		"as written":  {good, "key", true},
		"edited":      {strings.Replace(good, "[5]", "[500]", 1), "key", false},
		"another key": {good, "other", false},
		"unsigned":    {`{"key":"k","round":1,"result":{"cell":{"id":"a"},"outcome":"passed"}}` + "\n", "key", false},
		"second line": {good + strings.Replace(good, "[5]", "[500]", 1), "key", false},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		entries, _, err := runner.ReadJournal(path, []byte(c.key))
		if (err == nil) != c.ok || !c.ok && !strings.Contains(err.Error(), "signature is not this user's: run without --resume") || c.ok && len(entries) != 1 {
			t.Errorf("%s: %d entries, %v", name, len(entries), err)
		}
	}
}

func TestJournalRefusesWhatNoRunWrote(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.jsonl")
	for name, text := range map[string]string{
		"no JSON":      "hello\n",
		"no round":     signed(`{"key":"k","result":{"cell":{"id":"a"},"outcome":"passed"}}`),
		"no cell":      signed(`{"key":"k","round":1,"result":{"outcome":"passed"}}`),
		"many values":  signed(`{"key":"k","round":1,"result":{"cell":{"id":"a"},"outcome":"passed","samples":[{"metric":"tps","values":[1,2]}]}}`),
		"in the midst": "{\n" + `{"key":"k","round":1,"result":{"cell":{"id":"a"},"outcome":"passed"}}` + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := runner.ContinueJournal(path, []byte("key")); err == nil || !strings.Contains(err.Error(), "journal.jsonl:1: ") || !strings.HasSuffix(err.Error(), "run without --resume") {
			t.Errorf("%s: ContinueJournal() = %v, want the line and a next step", name, err)
		}
	}
	link := filepath.Join(dir, "link.jsonl")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if _, _, err := runner.ContinueJournal(link, []byte("key")); err == nil {
		t.Error("a link was followed")
	}
}

func TestEarlierKeepsOnlyWhatPassed(t *testing.T) {
	index := runner.Earlier([]runner.Entry{
		entry("a", 1, bench.Passed), entry("b", 1, bench.Failed), entry("a", 2, bench.Incorrect), entry("b", 1, bench.Passed),
	})
	if len(index["a"]) != 1 || len(index["b"]) != 1 {
		t.Errorf("Earlier() = %v, want round 1 of a, and of b the second try", index)
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte(signed(`{"key":"k","round":1,"result":{"cell":{"id":"a"},"outcome":"passed","samples":[{"metric":"tps","values":[1]}]}}`) + "{"))
	f.Add([]byte("\n\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "journal.jsonl")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		entries, size, err := runner.ReadJournal(path, []byte("key"))
		if err == nil && (size > int64(len(data)) || len(entries) > 0 && size == 0) {
			t.Errorf("%d entries in %d of %d bytes", len(entries), size, len(data))
		}
	})
}
