package config_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/config"
)

// counts are what matters of the counts of a suite.
func counts(s config.Suite) (all []string) {
	for _, n := range s.Devices {
		all = append(all, fmt.Sprint(n.When, " ", n.Count, " ", n.Vendor, " ", n.MIG, " ", n.SameNode))
	}
	return all
}

func TestDeviceCounts(t *testing.T) {
	for text, want := range map[string][]string{
		"2":                                    {"map[] 2   false"},
		"{nvidia: 4, same_node: true}":         {"map[] 4 nvidia  true"},
		"{amd: 1}":                             {"map[] 1 amd  false"},
		"{count: 3, same_node: true}":          {"map[] 3   true"},
		"[{when: {tp: 4}, apple: 1}, 2]":       {"map[tp:4] 1 apple  false", "map[] 2   false"},
		"{mig: 1g.10gb}":                       {"map[] 1  1g.10gb false"},
		"{ascend: 256, same_node: false}":      {"map[] 256 ascend  false"},
		"\n      intel: 2\n      when: {a: b}": {"map[a:b] 2 intel  false"},
	} {
		file, err := config.Parse("accelgate.yaml", []byte("version: 1\nsuites:\n  - name: a\n    kind: models\n    devices: "+text+"\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, counts(file.Suites[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
