package lowrank_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
	"github.com/accelgate/accelgate/internal/tensor"
)

// TestExportedFactorsVerify: factors that are saved, read and verified give the
// numbers that decomposing gave.
func TestExportedFactorsVerify(t *testing.T) {
	t.Parallel()
	m := model(tensor.BF16)
	for _, storage := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.F16, tensor.BF16} {
		folder := filepath.Join(t.TempDir(), "new")
		j := lowrank.Job{Original: m, Settings: with(tensor.Float32, storage), Solver: svd.Go()}
		if err := j.Export(t.Context(), folder); err != nil {
			t.Fatal(err)
		}
		factors, err := lowrank.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		want := run(t, j)
		got := run(t, lowrank.Job{Original: m, Factors: factors, Settings: j.Settings})
		if asJSON(t, got.Parameters) != asJSON(t, want.Parameters) || got.Mode != lowrank.Verified || len(factors.Names()) != 18 {
			t.Errorf("%s: %s, want %s", storage, asJSON(t, got.Parameters), asJSON(t, want.Parameters))
		}
		if err := factors.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestShards: a file is full when it has what was asked for.
func TestShards(t *testing.T) {
	t.Parallel()
	const firstTwo = 8 * (16*33 + 9*41) // bytes of the factors of 16 x 16 and 31 x 9
	for shard, want := range map[int64]int{1: 3, firstTwo: 2, firstTwo + 1: 1, 0: 1} {
		folder := t.TempDir()
		if err := (lowrank.Job{Original: model(tensor.BF16), Settings: lowrank.Defaults(), Solver: svd.Go(), Shard: shard}).Export(t.Context(), folder); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(folder, "model-*.safetensors"))
		if err != nil || len(files) != want {
			t.Errorf("%d bytes a file: %q, %v, want %d", shard, files, err, want)
		}
		factors, err := lowrank.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(factors.Names()); n != 18 {
			t.Errorf("%d factors, want 18", n)
		}
		if err := factors.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	t.Parallel()
	m := model(tensor.BF16)
	j := lowrank.Job{Original: m, Settings: lowrank.Defaults(), Solver: svd.Go()}
	folder := t.TempDir()
	if _, err := lowrank.Generate(folder, 1); err != nil {
		t.Fatal(err)
	}
	check := func(j lowrank.Job, folder, want string) {
		t.Helper()
		if err := j.Export(t.Context(), folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := os.Stat(filepath.Join(folder, "model.safetensors.index.json")); err == nil {
			t.Errorf("%s: there is an index", want)
		}
	}
	check(j, folder, "choose another folder")
	check(lowrank.Job{Original: m, Factors: m, Settings: lowrank.Defaults()}, t.TempDir(), "already there")
	j.Original = broken{m, tall}
	check(j, t.TempDir(), "the disk is gone")
	j.Original = memory{}
	check(j, t.TempDir(), "no targets")
}
