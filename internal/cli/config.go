package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats/tensorsharp"
	"github.com/accelgate/accelgate/internal/gate"
)

// load reads the configuration and settles the policy.
func (o *options) load() (*config.File, gate.Policy, error) {
	file, _, err := o.read()
	if err != nil {
		return nil, gate.Policy{}, usageError{err}
	}
	policy, err := o.policy(file)
	return file, policy, err
}

// read reads the configuration: an accelgate.yaml, or TensorSharp's
// matrix-config.json, which is translated first.
func (o *options) read() (*config.File, []string, error) {
	if piped(o.config) {
		return o.readPiped()
	}
	if !strings.EqualFold(filepath.Ext(o.config), ".json") {
		file, err := config.Load(o.config)
		return file, nil, err
	}
	data, err := readBounded(o.config)
	if err != nil {
		return nil, nil, fmt.Errorf("open configuration: %w; create the file or name another one with --config", err)
	}
	if !tensorsharp.IsConfig(data) && !strings.HasPrefix(strings.ToLower(filepath.Base(o.config)), "matrix-config") {
		file, err := config.Parse(o.config, data)
		return file, nil, err
	}
	text, warnings, err := o.translate(data)
	if err != nil {
		return nil, nil, err
	}
	file, err := config.Parse(o.config+" (as 'accelgate config convert' prints it)", text)
	return file, warnings, err
}

// piped reports a configuration that is no file, such as /dev/stdin: it has no
// folder of its own and can be read only once.
func piped(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// readPiped reads it once. Its paths are relative to the working folder.
func (o *options) readPiped() (*config.File, []string, error) {
	if o.pipedConfig == nil {
		data, err := readBounded(o.config)
		if err != nil {
			return nil, nil, fmt.Errorf("read configuration: %w; name a file with --config", err)
		}
		o.pipedConfig = data
	}
	file, err := config.Parse(o.config, o.pipedConfig)
	if file != nil {
		file.Dir = "."
	}
	return file, nil, err
}

// translate turns TensorSharp's configuration into accelgate's.
func (o *options) translate(data []byte) ([]byte, []string, error) {
	c, warnings, err := tensorsharp.ReadConfig(o.config, data)
	if err != nil {
		return nil, nil, err
	}
	work, err := os.Getwd()
	if err != nil {
		return nil, nil, fmt.Errorf("find the working folder, which its paths are relative to: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(o.config))
	if err != nil {
		return nil, nil, err
	}
	text, more, err := c.YAML(tensorsharp.Options{WorkDir: work, Dir: dir, ModelDir: o.modelDir})
	return text, append(warnings, more...), err
}

// maxConfig bounds a configuration of another tool.
const maxConfig = 1 << 20

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(data) > maxConfig {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxConfig)
	}
	return data, err
}

const convertHelp = `Print TensorSharp's matrix-config.json as an accelgate.yaml. accelgate reads the
JSON file as it is; converting it is for those who want to change what it
cannot say.

  accelgate config convert matrix-config.json > accelgate.yaml`

func (c *Command) configCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:   "config",
		Short: "Work with configurations",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("accelgate config: name a command: type 'accelgate config convert FILE'")
		},
	}
	parent.AddCommand(&cobra.Command{
		Use:   "convert FILE",
		Short: "Print another tool's configuration as an accelgate.yaml",
		Long:  convertHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			o := options{config: args[0]}
			data, err := readBounded(o.config)
			if err != nil {
				return usagef("config convert: %w: name a matrix-config.json", err)
			}
			if !tensorsharp.IsConfig(data) {
				return usagef("config convert: %s is not a matrix-config.json of TensorSharp: name one", o.config)
			}
			text, warnings, err := o.translate(data)
			if err != nil {
				return usageError{err}
			}
			c.warnAll(warnings)
			_, err = c.Stdout.Write(text)
			return err
		},
	})
	return parent
}

// warnAll prints warnings for people.
func (c *Command) warnAll(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(c.Stderr, "accelgate: warning: %s\n", oneLine(c.carry(w)))
	}
}
