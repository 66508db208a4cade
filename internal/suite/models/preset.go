package models

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/nearest"
)

// presets are the bodies that ship with accelgate: what is known of a program
// as data. A preset's keys are defaults for a suite that names it.
//
//go:embed preset/*.yaml
var presets embed.FS

// load decodes the suite over its preset, if it names one, over the defaults.
func load(c *config.Suite) (body, error) {
	own := defaults()
	if err := c.Decode(&own); err != nil || own.Preset == "" {
		own.profiles, own.vars = own.Profiles, own.Vars
		return own, err
	}
	b := defaults()
	preset, err := readPreset(c, own.Preset)
	if err != nil {
		return b, err
	}
	if err := preset.Decode(&b); err != nil {
		return b, fmt.Errorf("preset %s: %w", own.Preset, err)
	}
	b.profiles, b.vars = own.Profiles, own.Vars
	return b, c.Decode(&b)
}

func readPreset(c *config.Suite, name string) (*config.Suite, error) {
	data, err := presets.ReadFile("preset/" + name + ".yaml")
	if err != nil {
		near := ""
		if s := nearest.Word(name, presetNames()); s != "" {
			near = fmt.Sprintf(" (did you mean %s?)", s)
		}
		return nil, c.Errorf("preset", "unknown preset %q%s: use one of %s", name, near, strings.Join(presetNames(), ", "))
	}
	return config.Body("preset "+name, data)
}

func presetNames() []string {
	files, err := presets.ReadDir("preset")
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(path.Base(f.Name()), ".yaml"))
	}
	return names
}
