package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

const kernelsHelp = `Measure and judge kernels: definitions, solutions and workloads in the folders
of FlashInfer-Bench.

  accelgate kernels lint flashinfer-trace              what is wrong with the files
  accelgate kernels run --local flashinfer-trace       measure solutions and judge what they computed
  accelgate kernels report flashinfer-trace            scores of solutions and authors
  accelgate kernels serve flashinfer-trace             the same over HTTP, for clients that submit solutions
  accelgate kernels evaluate --definition D.json --reference R.safetensors --candidate C.safetensors
  accelgate kernels config explain D.json              where each setting comes from`

func (c *Command) kernelsCommand(code *int) *cobra.Command {
	parent := group("kernels", "Measure and judge kernels")
	parent.Long = kernelsHelp
	traces := group("traces", "Work with traces")
	traces.AddCommand(c.compactCommand())
	parent.AddCommand(c.kernelsRunCommand(code), c.kernelsWorkerCommand(), c.evaluateCommand(code),
		c.lintKernelsCommand(code), c.kernelsReportCommand(), c.kernelsConfigCommand(), c.serveKernelsCommand(), traces)
	return parent
}

const compactHelp = `Keep the last result of each case in files of traces: upstream's tools append
one each time a solution is measured again, and count all of them. Which lines
belong to one case is said by definition, workload and solution, and by the
host and configuration that accelgate adds. Lines that stay are not changed.

  accelgate kernels traces compact traces/me/gemm/gemm_n128_k2048.jsonl
  accelgate kernels traces compact flashinfer-trace     all files below its traces/`

func (c *Command) compactCommand() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "compact FILE|FOLDER",
		Short: "Keep the last result of each case",
		Long:  compactHelp,
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return c.compact(args[0], dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print what would be dropped and write nothing")
	return cmd
}

// compact compacts what can be, and then complains about the rest.
func (c *Command) compact(path string, dry bool) error {
	info, err := os.Stat(path)
	var files []flashinfer.CompactedFile
	if err == nil && info.IsDir() {
		files, err = flashinfer.DedupeAll(path, dry)
	} else {
		var done flashinfer.Compacted
		if done, err = flashinfer.Dedupe(path, dry); err == nil {
			files = append(files, flashinfer.CompactedFile{Path: path, Compacted: done})
		}
	}
	for _, f := range files {
		if _, err := fmt.Fprintf(c.Stdout, "%s: %s\n", text.Clean(f.Path), compacted(f.Compacted)); err != nil {
			return err
		}
	}
	if err != nil {
		return exit.AsUsage(err)
	}
	_, err = fmt.Fprintln(c.Stdout, "Next: accelgate kernels report FOLDER, the one that holds traces/")
	return err
}

func compacted(done flashinfer.Compacted) string {
	what := fmt.Sprintf("%s kept, %s dropped", text.Plural(done.Kept, "line"), text.Plural(done.Dropped, "line"))
	if done.Cut > 0 {
		what += fmt.Sprintf(", an unfinished one of %s removed", text.Plural(int(done.Cut), "byte"))
	}
	return what
}
