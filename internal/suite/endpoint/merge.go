package endpoint

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// Limits of the files.
const (
	maxShards       = 4096
	maxSamplesBytes = 1 << 30
)

// ShardName is the name of the file of a shard.
func ShardName(index, of int) string { return fmt.Sprintf("shard-%d-of-%d.json", index, of) }

// ReadShard reads a shard's file, and the samples beside it.
func ReadShard(path string) (*ShardFile, error) {
	data, err := suite.ReadResult(path, path, bench.MaxRunBytes)
	if err != nil {
		return nil, err
	}
	f, err := parseShard(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: take the file that 'accelgate bench run --shard' wrote", path, err)
	}
	f.from = path
	return f, f.readSamples(filepath.Dir(path))
}

// parseShard reads and checks a shard's file.
func parseShard(data []byte) (*ShardFile, error) {
	var f ShardFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is something behind the document")
	}
	p := &f.Part
	switch {
	case f.Format != shardFormat:
		return nil, fmt.Errorf("accelgate_shard is %d, and this build reads %d", f.Format, shardFormat)
	case f.Of < 1 || f.Of > maxShards || f.Index < 1 || f.Index > f.Of:
		return nil, fmt.Errorf("it is shard %d of %d", f.Index, f.Of)
	case len(f.Run.Results) != 1:
		return nil, fmt.Errorf("it holds %d loads, and a shard has one", len(f.Run.Results))
	case !possibleWindow(p.Window) || p.Began < 0 || p.Began > maxSpan || p.Epoch.Year() < 2000 || p.Epoch.Year() > 2200,
		p.Clock.Low > p.Clock.High || p.Clock.Low < -maxSpan || p.Clock.High > maxSpan, !bench.Finite(p.Health.CPUShare):
		return nil, errors.New("its times cannot be")
	}
	return &f, cmp.Or(f.Settings.Mix.check(), f.Run.Validate())
}

const maxSpan = 30 * 24 * time.Hour

func possibleWindow(w load.Window) bool {
	return w.Start >= 0 && w.End >= w.Start && w.Drained >= 0 && max(w.End, w.Drained) <= maxSpan
}

// readSamples reads the file of samples that the shard names, by its digest.
func (f *ShardFile) readSamples(dir string) error {
	files := f.Run.Results[0].Files
	if len(files) != 1 {
		return fmt.Errorf("%s names %d files of samples: take the file that 'accelgate bench run --shard' wrote", f.from, len(files))
	}
	name := files[0].Name
	if filepath.Base(name) != name || name == ".." || strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("%s names the samples %.80q, which is not a file beside it: take the file as it was written", f.from, name)
	}
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("the samples of %s: %w: keep the whole folder that the shard wrote", f.from, err)
	}
	defer file.Close()
	sum := sha256.New()
	f.Part.observations, err = latency.ReadSamples(io.TeeReader(io.LimitReader(file, maxSamplesBytes), sum))
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != files[0].SHA256 {
		return fmt.Errorf("%s was changed after it was written: take the original", file.Name())
	}
	return nil
}

// MergeShards merges all shards of a load to the run that one client would have
// measured, and writes its samples to a folder. It is an error if a shard is
// absent, there twice, or of another configuration, commit or start.
func MergeShards(list []*ShardFile, dir string) (*bench.Run, error) {
	if err := cmp.Or(checkShards(list), checkRequests(list)); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b *ShardFile) int { return cmp.Compare(a.Index, b.Index) })
	first := list[0]
	parts := make([]part, len(list))
	for i, f := range list {
		parts[i] = f.Part
	}
	set := &first.Settings
	t := merge(parts, first.Part.Epoch, load.Plan{Mode: set.Mode, Requests: set.Requests})
	run := first.Run
	result := &run.Results[0]
	return &run, merged(result, list, &run, t, dir)
}

// checkRequests refuses shards that hold one request of the load: one is a copy of the other.
func checkRequests(list []*ShardFile) error {
	of := map[int]*ShardFile{}
	for _, f := range list {
		for i := range f.Part.observations {
			index := f.Part.observations[i].Index
			if other := of[index]; other != nil {
				return fmt.Errorf("%s and %s both hold request %d of the load: take the files that different shards wrote", other.from,
					f.from, index)
			}
			of[index] = f
		}
	}
	return nil
}

// merged computes the result of all shards, and writes their samples to a folder.
func merged(result *bench.Result, list []*ShardFile, run *bench.Run, t together, dir string) error {
	set := &list[0].Settings
	in := latency.Input{Observations: t.observations, Window: t.window, Open: set.Mode != load.Closed, SLO: set.SLO,
		USDPerHour: set.PriceHour}
	out := latency.Compute(in)
	health, gone := list[0].Part.Health, false
	for _, f := range list {
		health, gone = worse(health, f.Part.Health), gone || f.Part.Gone
	}
	server, facts := serverSamples(result), mergedContext(result.Facts(), out, list)
	*result = bench.Result{
		Cell:     result.Cell,
		Outcome:  bench.Passed,
		WallMS:   result.WallMS,
		Counts:   out.Counts,
		Warnings: out.Warnings,
		Samples:  slices.Concat(out.Samples, set.Mix.samples(in), clientSamples(health), server),
	}
	result.SetFacts(facts, conditions)
	all := answers{observations: t.observations, mode: set.Mode, capped: capped(set.Mode, set.MaxInFlight), minOKRate: set.MinOKRate,
		clientDelay: set.ClientDelay}
	all.caveat(result, out, health)
	addTogether(result, &t)
	run.Metrics = slices.Concat(slices.DeleteFunc(slices.Clone(run.Metrics), func(a bench.Metric) bool {
		return slices.ContainsFunc(severalMetrics, func(b bench.Metric) bool { return a.Name == b.Name })
	}), severalMetrics)
	name := samplesName(result.Cell.Suite+"-merged", point{label: result.Cell.Get("load")}.String(), list[0].Part.Epoch)
	if err := saveSamples(dir, name, t.observations, result); err != nil {
		return err
	}
	all.judge(result, gone)
	return run.Validate()
}

// serverSamples are what the server, or its devices, reported, to one of the shards as to all.
func serverSamples(r *bench.Result) (list []bench.Sample) {
	for _, metric := range slices.Concat(serverMetrics, deviceMetrics) {
		if s := r.Sample(metric.Name); s != nil {
			list = append(list, *s)
		}
	}
	return list
}

// mergedContext are the conditions of one client, and the clocks.
func mergedContext(of map[string]string, out latency.Output, list []*ShardFile) map[string]string {
	c := of
	for _, own := range []string{bench.StreamedTokens, "energy_scope", "energy_method", "token_source"} {
		delete(c, own)
	}
	if out.TokenSource != "" {
		c["token_source"] = out.TokenSource
	}
	if out.StreamedShare < 1 {
		c[bench.StreamedTokens] = strconv.FormatFloat(out.StreamedShare, 'f', 2, 64)
	}
	c["energy_not_measured"] = "shards measure no energy"
	clocks := make([]string, len(list))
	for i, f := range list {
		clocks[i] = fmt.Sprintf("shard %d: %s", f.Index, f.Part.Clock)
	}
	c["clocks"] = strings.Join(clocks, "; ")
	return c
}

// checkShards refuses anything but all shards of one load.
func checkShards(list []*ShardFile) error {
	if len(list) == 0 {
		return errors.New("no shard was given: name the folders that 'accelgate bench run --shard' wrote")
	}
	seen := map[int]*ShardFile{}
	want := list[0].facts()
	for _, f := range list {
		if twice := seen[f.Index]; twice != nil {
			return fmt.Errorf("%s and %s are both shard %d: leave one of them out", twice.from, f.from, f.Index)
		}
		seen[f.Index] = f
		got := f.facts()
		for _, name := range sortedKeys(want, got) {
			if got[name] != want[name] {
				return fmt.Errorf("%s and %s differ in %s (%.80q and %.80q): run all shards alike, and merge those of one start",
					list[0].from, f.from, name, want[name], got[name])
			}
		}
	}
	var absent []string
	for i := 1; i <= list[0].Of; i++ {
		if seen[i] == nil {
			absent = append(absent, fmt.Sprintf("%d/%d", i, list[0].Of))
		}
	}
	if n := len(absent); n > 0 {
		const shown = 10
		return fmt.Errorf("shards are absent: %s: add their folders; if one failed, start all again with a later --start-at",
			strings.Join(absent[:min(n, shown)], ", "))
	}
	return nil
}

func sortedKeys(a, b map[string]string) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
