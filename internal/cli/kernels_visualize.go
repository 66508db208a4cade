package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/page"
	"github.com/accelgate/accelgate/internal/text"
)

const visualizeKernelsHelp = `Write the traces of a dataset as one HTML page: authors with their statuses, the
share of workloads above each speed-up, and for each definition and device the
speed-ups and the latency of each workload. The page needs no network.

  accelgate kernels report visualize flashinfer-trace --out kernels.html
  accelgate kernels report visualize flashinfer-trace --baseline-author flashinfer > kernels.html

Speed-ups are over the baseline author's solutions; without traces of that author
they are over the definitions' references.`

func (c *Command) visualizeKernelsCommand() *cobra.Command {
	var out, author string
	cmd := &cobra.Command{
		Use:   "visualize FOLDER",
		Short: "Write the traces of a dataset as an HTML page",
		Long:  visualizeKernelsHelp,
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return c.visualizeKernels(args[0], out, author) },
	}
	cmd.Flags().StringVar(&out, "out", "", "`file` for the page (default: print it)")
	cmd.Flags().StringVar(&author, "baseline-author", flashinfer.BaselineAuthor, "`author` whose solutions the others are compared with")
	return cmd
}

func (c *Command) visualizeKernels(dir, out, author string) error {
	ds, err := flashinfer.Load(dir)
	if err != nil {
		return exit.AsUsage(err)
	}
	if len(ds.Traces) == 0 {
		return fmt.Errorf("%s has no traces to draw: measure some with 'accelgate kernels run --local %[1]s'", text.Clean(dir))
	}
	draw := func(w io.Writer) error { return page.HTML(w, ds, author, measure.Tool()) }
	if out == "" {
		return draw(c.Stdout)
	}
	if err := atomicfile.Elsewhere(atomicfile.WriteFrom(out, draw), "--out"); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "%s: %s of %s\nNext: open %[1]s\n", text.Clean(out), text.Plural(len(ds.Traces), "trace"),
		text.Plural(len(ds.Definitions), "definition"))
	return err
}
