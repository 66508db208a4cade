package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/verdict"
)

func (c *Command) showCommand() *cobra.Command {
	var o measure.Options
	cmd := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Print a baseline",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := c.choosePath(cmd.Context(), &o, args)
			if err != nil {
				return err
			}
			file, err := baseline.Load(path)
			if err != nil {
				return verdict.MissingBaseline(err)
			}
			return show(c.Stdout, path, file)
		},
	}
	addConfig(&o, cmd.Flags())
	addHost(&o, cmd.Flags())
	return cmd
}

// choosePath is the file named, or the one of this host.
func (c *Command) choosePath(ctx context.Context, o *measure.Options, args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	p, err := c.env().Plan(ctx, o)
	if err != nil {
		return "", err
	}
	defer p.Close()
	return p.BaselinePath(), nil
}

func show(w io.Writer, path string, file *baseline.File) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	ref := file.Run()
	fmt.Fprintf(t, "%s\nhost\t%s\ndevice\t%s\ncaptured\t%s\ncommit\t%s\n", path, text.OneLine(ref.Host.Label), text.OneLine(ref.Host.Device()),
		file.CapturedAt.Format("2006-01-02 15:04 MST"), text.OneLine(ref.Revision))
	if file.Notes != nil {
		fmt.Fprintf(t, "notes\t%s\n", text.OneLine(*file.Notes))
	}
	fmt.Fprintf(t, "\ncase\toutcome\tmetric\tmedian\tMAD\tn\tnoise\tMDE\tunit\n")
	for i := range ref.Results {
		r := &ref.Results[i]
		if len(r.Samples) == 0 {
			fmt.Fprintf(t, "%s\t%s\n", text.OneLine(r.Cell.ID()), r.Outcome)
		}
		for _, s := range r.Samples {
			unit := ""
			if m := ref.Metric(s.Metric); m != nil {
				unit = m.Unit
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%.5g\t%.3g\t%d\t%s\t%s\t%s\n", text.OneLine(r.Cell.ID()), r.Outcome, text.OneLine(s.Metric), s.Summary.Median, s.Summary.MAD, s.Summary.N,
				ofCalibrating(s.Summary.Noise), ofCalibrating(s.Summary.MDE), text.OneLine(unit))
		}
	}
	return t.Flush()
}

// ofCalibrating writes a fraction that calibrate has found, or that it has not.
func ofCalibrating(fraction float64) string {
	if fraction == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2g %%", 100*fraction)
}
