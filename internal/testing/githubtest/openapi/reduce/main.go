// Command reduce cuts GitHub's OpenAPI description down to the operations that
// the test server answers. See ../README.md.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/accelgate/accelgate/internal/testing/githubtest/openapi"
)

func main() {
	output := flag.String("o", "github.json", "write the reduced description to `file`")
	flag.Parse()
	if err := reduce(flag.Arg(0), *output); err != nil {
		fmt.Fprintln(os.Stderr, "reduce:", err)
		os.Exit(1)
	}
}

func reduce(input, output string) error {
	full, err := os.ReadFile(input)
	if err != nil {
		return fmt.Errorf("read the full description (give its path as the argument): %w", err)
	}
	reduced, err := openapi.Reduce(full, openapi.Operations())
	if err != nil {
		return err
	}
	return os.WriteFile(output, reduced, 0o644)
}
