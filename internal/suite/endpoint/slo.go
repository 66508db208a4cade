package endpoint

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

//go:embed slo.yaml
var sloFile []byte

// templates are the limits and the classes of hardware that ship with
// accelgate.
type templates struct {
	Templates map[string]limits  `yaml:"templates"`
	Hardware  map[string]float64 `yaml:"hardware"`
}

type limits struct {
	TTFT float64 `yaml:"ttft_ms"`
	TPOT float64 `yaml:"tpot_ms"`
	E2E  float64 `yaml:"e2e_ms"`
}

func readTemplates() (t templates, err error) {
	file, err := config.Body("slo.yaml", sloFile)
	if err != nil {
		return t, err
	}
	return t, file.Decode(&t)
}

// objective is what a request must keep to; 0 is no limit.
type objective struct {
	template, hardware string
	ttft, tpot, e2e    time.Duration
}

// objective settles the limits of this host.
func (s *slo) objective(host bench.Host) (objective, error) {
	t, err := readTemplates()
	if err != nil {
		return objective{}, err
	}
	o := objective{template: s.Template, hardware: s.Hardware, ttft: s.TTFT, tpot: s.TPOT, e2e: s.E2E}
	if s.Template == "" {
		return o, nil
	}
	if o.hardware == "" {
		o.hardware = t.class(host)
	}
	factor := cmp.Or(t.Hardware[o.hardware], 1)
	of := t.Templates[s.Template]
	for _, l := range []struct {
		to *time.Duration
		ms float64
	}{{&o.ttft, of.TTFT}, {&o.tpot, of.TPOT}, {&o.e2e, of.E2E}} {
		if *l.to == 0 {
			*l.to = time.Duration(l.ms * factor * float64(time.Millisecond))
		}
	}
	return o, nil
}

// class is the hardware class of the host: one of the words of its first
// accelerator's model, "cpu" without one, and "" for an unknown one.
func (t *templates) class(host bench.Host) string {
	if len(host.Accelerators) == 0 {
		return "cpu"
	}
	words := strings.FieldsFunc(strings.ToLower(host.Accelerators[0].Model), func(r rune) bool { return r == ' ' || r == '-' || r == '_' })
	for _, class := range slices.Sorted(maps.Keys(t.Hardware)) {
		if slices.Contains(words, class) {
			return class
		}
	}
	return ""
}
