package endpoint

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

// PresetInfo is a suite that ships with accelgate.
type PresetInfo struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Loads       string `json:"loads"` // "c4, c16, c64; 2m0s each"
	// NeedsFile means that the dataset is a file that the user brings.
	NeedsFile bool         `json:"needs_file"`
	Dataset   dataset.Kind `json:"dataset"`
}

// Presets lists the suites that ship with accelgate, by name.
func Presets() ([]PresetInfo, error) {
	files, err := fs.Glob(presets, "preset/*.yaml")
	if err != nil {
		return nil, err
	}
	var list []PresetInfo
	for _, f := range files {
		data, err := fs.ReadFile(presets, f)
		if err != nil {
			return nil, err
		}
		id := strings.TrimSuffix(path.Base(f), ".yaml")
		of, err := config.Body("preset "+id, data)
		if err != nil {
			return nil, err
		}
		b := defaults()
		if err := of.Decode(&b); err != nil {
			return nil, err
		}
		list = append(list, b.info(id))
	}
	return list, nil
}

func (b *body) info(id string) PresetInfo {
	var loads []string
	for _, p := range b.Load.points() {
		loads = append(loads, p.String())
	}
	kinds := map[dataset.Kind]bool{dataset.JSONL: true, dataset.ShareGPT: true, dataset.Trace: true}
	return PresetInfo{ID: id, Dataset: b.Dataset.Kind, Description: b.Description, NeedsFile: kinds[b.Dataset.Kind],
		Loads: fmt.Sprintf("%s; %v each", strings.Join(loads, ", "), b.Load.Duration)}
}

// Catalogue describes every metric of a load, as it is gated by default.
func Catalogue() []bench.Metric {
	return slices.Concat(ofRequests(), severalMetrics, clientMetrics, serverMetrics, deviceMetrics)
}

// ofRequests are the metrics that are computed from requests.
func ofRequests() []bench.Metric {
	metrics, _ := latency.Metrics() // nothing is asked for that could be wrong
	return metrics
}
