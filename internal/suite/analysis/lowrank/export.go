package lowrank

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// Export decomposes the items of [Job.Work] and saves their factors in a folder,
// which need not exist, as a checkpoint of several files with an index, which
// comes last and without which the rest is not read. A folder that has
// model.safetensors is refused: readers would take that. If there are no items,
// or one cannot be decomposed, that is an error. Besides Memory it takes that of
// the factors of one file, twice.
func (j Job) Export(ctx context.Context, folder string) error {
	if j.Factors != nil {
		return errors.New("the factors are already there: give only the original to save what is made of it")
	}
	j, err := j.check()
	if err != nil {
		return err
	}
	items, _, err := j.Work()
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return errors.New("save factors: the checkpoint has no targets: choose other patterns")
	}
	if _, err := os.Stat(filepath.Join(folder, "model.safetensors")); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("save factors: %s has model.safetensors, or cannot be read: choose another folder", folder)
	}
	shards := j.shards(items)
	home := map[string]string{}
	for i, shard := range shards {
		file := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(shards))
		if err := j.exportShard(ctx, shard, filepath.Join(folder, file), func(name string) { home[name] = file }); err != nil {
			return err
		}
	}
	return writeIndex(folder, home)
}

// shards groups items so that the factors of each group make a file of its
// own.
func (j Job) shards(items []Item) [][]Item {
	var shards [][]Item
	size := j.Shard
	for _, item := range items {
		if size >= j.Shard {
			shards, size = append(shards, nil), 0
		}
		last := len(shards) - 1
		shards[last] = append(shards[last], item)
		if item.Faults == nil {
			n, m := item.Shape[0], item.Shape[1]
			size += int64(j.Settings.Storage.Size(min(n, m) * (n + m + 1)))
		}
	}
	return shards
}

func (j Job) exportShard(ctx context.Context, items []Item, path string, saved func(name string)) error {
	factors, errs := make([]Factors, len(items)), make([]error, len(items))
	err := j.schedule(ctx, items, func(i int) { factors[i], errs[i] = j.export(items[i]) })
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("save factors: %w", err)
	}
	var named []safetensors.Named
	for i, f := range factors {
		for _, t := range f.Tensors(items[i].Name) {
			named = append(named, t)
			saved(t.Name)
		}
	}
	return safetensors.Write(path, named)
}

func (j Job) export(item Item) (Factors, error) {
	faults := item.Faults
	var f Factors
	if faults == nil {
		weight, err := j.Original.Tensor(item.Name)
		if err != nil {
			return Factors{}, err
		}
		f, faults = j.factors(weight, item.Name, nil)
	}
	if len(faults) > 0 {
		return Factors{}, fmt.Errorf("%.80q: %s", item.Name, faults[0].Detail)
	}
	return f, nil
}

// writeIndex writes the index of a checkpoint in several files, as transformers
// does. Renaming puts it there as a whole.
func writeIndex(folder string, home map[string]string) error {
	text, err := json.MarshalIndent(map[string]any{"metadata": map[string]string{}, "weight_map": home}, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "model.safetensors.index.json")
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
