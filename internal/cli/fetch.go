package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/artifact"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

const fetchHelp = `Download the artifacts of accelgate.yaml, models and datasets, into the cache that
all runs on this host share. A download that was interrupted is resumed, and every
file is compared with its digest before it is used.

  accelgate fetch                all artifacts
  accelgate fetch model          the artifact of this name
  accelgate fetch --check        read all files again and compare them with their digests, without network

'accelgate run' gets what its suites use by itself. ACCELGATE_CACHE names the folder,
ACCELGATE_CACHE_GIB limits it, and HF_TOKEN is sent to the hub alone. Exit 0 means
that all are there, 3 that one is not.`

func (c *Command) fetchCommand(code *int) *cobra.Command {
	var o measure.HostOptions
	var check, asJSON bool
	cmd := &cobra.Command{
		Use:   "fetch [NAME...]",
		Short: "Download models and datasets into the cache",
		Long:  fetchHelp,
		RunE: func(cmd *cobra.Command, names []string) (err error) {
			*code, err = c.fetch(cmd.Context(), &o, names, check, asJSON)
			return err
		},
	}
	f := cmd.Flags()
	addConfig(&o, f)
	f.BoolVar(&check, "check", false, "compare the files of the cache with their digests, and download nothing")
	f.BoolVar(&asJSON, "json", false, "print names, states and paths as JSON")
	return cmd
}

func (c *Command) fetch(ctx context.Context, o *measure.HostOptions, names []string, check, asJSON bool) (int, error) {
	store, err := c.env().Artifacts(&measure.Options{HostOptions: *o})
	if err != nil {
		return 0, err
	}
	defer store.Release()
	states, err := store.Fetch(ctx, names, check)
	if err != nil {
		return 0, err
	}
	if asJSON {
		err = c.encode(states)
	} else if err = artifact.Print(c.Stdout, c.columns(), states); err == nil {
		for _, s := range states {
			if s.Error != "" {
				fmt.Fprintf(c.Stderr, "accelgate: %s\n", text.OneLine(s.Error))
			}
		}
	}
	if slices.ContainsFunc(states, func(s artifact.State) bool { return s.State == artifact.Failed }) {
		return exit.NoMeasure, err
	}
	return exit.Passed, err
}
