package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/suite/kernels/harness/gokernel"
)

// kernelsWorkerCommand is what suites start as a child: accelgate itself as a
// worker of kernels. People have no use for it.
func (c *Command) kernelsWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Compute kernels in Go, asked by accelgate on standard input",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return gokernel.Serve(cmd.Context(), c.Stdin, c.Stdout, c.Now)
		},
	}
}
