package models

import (
	"embed"
	"fmt"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/suite"
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
		own.profiles, own.vars, own.own = own.Profiles, own.Vars, true
		return own.settled(), err
	}
	b := defaults()
	preset, err := suite.Preset(c, presets, own.Preset)
	if err != nil {
		return b, err
	}
	if err = preset.Decode(&b); err != nil {
		return b, fmt.Errorf("preset %s: %w", own.Preset, err)
	}
	b.profiles, b.vars, b.own = own.Profiles, own.Vars, len(own.Metrics) > 0
	err = c.Decode(&b)
	return b.settled(), err
}

// settled adds what follows from the keys: the rows, and the answer of a parser that finds it, unless the suite says where it stands.
func (b body) settled() body {
	b.rows = b.findRows()
	if b.Answer == nil && formats.Answers(b.Parser) {
		b.Answer = &source{parser: true}
	}
	return b
}
