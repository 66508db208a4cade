package measure

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats/tensorsharp"
	"github.com/accelgate/accelgate/internal/gate"
)

// Load reads the configuration and settles the policy.
func (e *Env) Load(o *Options) (*config.File, gate.Policy, error) {
	file, _, err := o.Read()
	if err != nil {
		return nil, gate.Policy{}, exit.AsUsage(err)
	}
	if file, _, err = e.place(o, file); err != nil {
		return nil, gate.Policy{}, err
	}
	policy, err := e.Policy(o, file)
	return file, policy, err
}

// Read reads the configuration: an accelgate.yaml, or TensorSharp's
// matrix-config.json, which is translated first.
func (o *HostOptions) Read() (*config.File, []string, error) {
	if piped(o.Config) {
		return o.readPiped()
	}
	if !strings.EqualFold(filepath.Ext(o.Config), ".json") {
		file, err := config.Load(o.Config)
		return file, nil, err
	}
	data, err := ReadBounded(o.Config)
	if err != nil {
		return nil, nil, fmt.Errorf("open configuration: %w; create it with 'accelgate init', or name another one with --config", err)
	}
	if !tensorsharp.IsConfig(data) && !strings.HasPrefix(strings.ToLower(filepath.Base(o.Config)), "matrix-config") {
		file, err := config.Parse(o.Config, data)
		return file, nil, err
	}
	text, warnings, err := o.Translate(data)
	if err != nil {
		return nil, nil, err
	}
	file, err := config.Parse(o.Config+" (as 'accelgate config convert' prints it)", text)
	return file, warnings, err
}

// piped reports a configuration that is no file, such as /dev/stdin: it has no
// folder of its own and can be read only once.
func piped(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// readPiped reads it once. Its paths are relative to the working folder.
func (o *HostOptions) readPiped() (*config.File, []string, error) {
	if o.pipedConfig == nil {
		data, err := ReadBounded(o.Config)
		if err != nil {
			return nil, nil, fmt.Errorf("read configuration: %w; name a file with --config", err)
		}
		o.pipedConfig = data
	}
	file, err := config.Parse(o.Config, o.pipedConfig)
	if file != nil {
		file.Dir = "."
	}
	return file, nil, err
}

// Translate turns TensorSharp's configuration into accelgate's.
func (o *HostOptions) Translate(data []byte) ([]byte, []string, error) {
	c, warnings, err := tensorsharp.ReadConfig(o.Config, data)
	if err != nil {
		return nil, nil, err
	}
	work, err := filepath.Abs(".")
	if err != nil {
		return nil, nil, fmt.Errorf("find the working folder, which its paths are relative to: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(o.Config))
	if err != nil {
		return nil, nil, err
	}
	text, more, err := c.YAML(tensorsharp.Options{WorkDir: work, Dir: dir, ModelDir: o.ModelDir})
	return text, append(warnings, more...), err
}

// MaxConfig bounds a configuration of another tool.
const MaxConfig = 1 << 20

// ReadBounded reads a file that people write: at most [MaxConfig] bytes.
func ReadBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxConfig+1))
	if err == nil && len(data) > MaxConfig {
		err = fmt.Errorf("%s is larger than %d bytes", path, MaxConfig)
	}
	return data, err
}
