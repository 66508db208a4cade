package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint"
	"github.com/accelgate/accelgate/internal/text"
)

// latestStart is how far away the start of a shard may be.
const latestStart = 24 * time.Hour

// sharded reads --shard and --start-at; nil without them.
func (b *benchRun) sharded(now time.Time) (*endpoint.Shard, error) {
	if b.shard == "" {
		if b.startAt != "" {
			return nil, exit.Usagef("--start-at is for the shards of a load: add --shard k/n, or leave it out")
		}
		return nil, nil
	}
	k, n, _ := strings.Cut(b.shard, "/")
	index, err := strconv.Atoi(k)
	of, errOf := strconv.Atoi(n)
	if err != nil || errOf != nil || index < 1 || of < index || of > 4096 {
		return nil, exit.Usagef("--shard: %q is not such a part: write k/n, from 1/n to n/n, as in 2/4", text.OneLine(b.shard))
	}
	start, err := startTime(b.startAt)
	switch {
	case b.Repeats > 1:
		return nil, exit.Usagef("--repeats: shards begin one measurement at a time: leave it out, and start the shards again")
	case b.startAt == "":
		return nil, exit.Usagef("--shard needs --start-at: give all shards one time at which they begin, as in --start-at %s",
			now.Add(5*time.Minute).UTC().Format(time.RFC3339))
	case err != nil:
		return nil, exit.Usagef("--start-at: %w", err)
	case start.After(now.Add(latestStart)):
		return nil, exit.Usagef("--start-at: %s is more than %v from now: write an earlier time", start.UTC().Format(time.RFC3339),
			latestStart)
	case start.Before(now):
		return nil, fmt.Errorf("--start-at: %s has passed, and it is %s: start all shards again with a later time",
			start.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return &endpoint.Shard{Index: index, Of: of, Start: start}, nil
}

// startTime reads a time of RFC 3339, or seconds since 1970.
func startTime(s string) (time.Time, error) {
	if seconds, err := strconv.ParseInt(s, 10, 64); err == nil && seconds > 0 && seconds < 1<<40 {
		return time.Unix(seconds, 0), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, fmt.Errorf("%q is not a time: write it as 2006-01-02T15:04:05Z, or as seconds since 1970", text.OneLine(s))
	}
	return t, nil
}

// withShard are the kinds, with that of endpoints sending a part of its load.
func withShard(of *endpoint.Shard) map[string]suite.Kind {
	k := maps.Clone(kinds)
	k["endpoint"] = endpoint.Sharded(of)
	return k
}

// concludeShard writes what the merge needs in place of the run, which would be taken for
// the whole.
func (c *Command) concludeShard(p *measure.Plan, b *benchRun, of *endpoint.Shard, run *bench.Run) (int, error) {
	if err := os.Remove(p.OutPath("run.json")); err != nil {
		return 0, err
	}
	f := of.File(run)
	if f == nil {
		return exit.NoMeasure, fmt.Errorf("shard %s measured nothing: %s: start all shards again with a later --start-at", b.shard,
			text.OneLine(run.Results[0].Reason))
	}
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return 0, err
	}
	path := p.OutPath(endpoint.ShardName(of.Index, of.Of))
	if err := atomicfile.Elsewhere(atomicfile.Write(path, append(data, '\n')), "--out"); err != nil {
		return 0, err
	}
	fmt.Fprintf(c.Stdout, "measured: shard %d of %d, %s; %s\n", of.Index, of.Of, text.Plural(run.Results[0].Counts["ok"], "answer"),
		f.Part.Clock)
	fmt.Fprintf(c.Stdout, "Next: bring the folders of all shards together, then accelgate bench merge %s OTHER-FOLDERS\n",
		text.ShellWord(b.Out))
	if run.Results[0].Outcome != bench.Passed {
		return exit.NoMeasure, nil
	}
	return exit.Passed, nil
}

const benchMergeHelp = `Merge what the shards of one load measured to the run that one client would
have measured: metrics are computed from the requests of all, and not averaged.

  accelgate bench merge shards/*
  accelgate bench merge shard-1 shard-2 --out results

Give the folder of each shard, or folders of such folders, as a download of
artifacts leaves them. A shard that is absent, there twice, or of another
configuration, commit or start is exit 3, and nothing is written.`

func (c *Command) benchMergeCommand(code *int) *cobra.Command {
	b := benchRun{changed: func(string) bool { return false }}
	cmd := &cobra.Command{
		Use:   "merge FOLDER...",
		Short: "Merge the shards of a load",
		Long:  benchMergeHelp,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := refuseEmpty(cmd, "sign-key"); err != nil {
				return err
			}
			*code, err = c.benchMerge(&b, args)
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&b.json, "json", false, "print the run as JSON")
	addSignKey(&b, f)
	f.StringVar(&b.Out, "out", "results", "`folder` for the envelope, the samples and run.json")
	return cmd
}

func (c *Command) benchMerge(b *benchRun, args []string) (int, error) {
	if err := c.readSignKey(b); err != nil {
		return 0, err
	}
	var list []*endpoint.ShardFile
	for _, arg := range args {
		paths, err := shardFiles(arg)
		if err != nil {
			return 0, err
		}
		for _, path := range paths {
			f, err := endpoint.ReadShard(path)
			if err != nil {
				return 0, err
			}
			list = append(list, f)
		}
	}
	if err := os.MkdirAll(b.Out, 0o755); err != nil {
		return 0, exit.Usagef("--out: %w: choose another folder", err)
	}
	run, err := endpoint.MergeShards(list, b.Out)
	if err != nil {
		return 0, err
	}
	if err := measure.SaveRun(filepath.Join(b.Out, "run.json"), run); err != nil {
		return 0, err
	}
	return c.printMeasured(b, run)
}

// shardFiles finds the files of shards: arg itself, in it, or one folder below.
func shardFiles(arg string) (paths []string, err error) {
	info, err := os.Stat(arg)
	if err != nil {
		return nil, fmt.Errorf("%w: name the folder that a shard wrote", err)
	}
	if !info.IsDir() {
		return []string{arg}, nil
	}
	for _, pattern := range []string{"shard-*-of-*.json", "*/shard-*-of-*.json"} {
		found, globErr := fs.Glob(os.DirFS(arg), pattern)
		if globErr != nil {
			return nil, globErr
		}
		for _, name := range found {
			paths = append(paths, filepath.Join(arg, name))
		}
	}
	if len(paths) == 0 {
		return nil, errors.New(text.OneLine(arg) + " holds no shard: name the folder that 'accelgate bench run --shard' wrote")
	}
	return paths, nil
}
