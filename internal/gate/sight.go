package gate

import (
	"slices"

	"github.com/accelgate/accelgate/internal/detect"
)

// Sight is what a report could have seen on one road: the losses, in percent of
// the metric, that it would have found in half and in nine of ten of its numbers.
type Sight struct {
	Road    Road    `json:"road"`
	Numbers int     `json:"numbers"`
	Half    float64 `json:"half"`
	Most    float64 `json:"most"`
	// Convicts says that the road can show a loss of this size; otherwise it only
	// suspects one.
	Convicts bool `json:"convicts"`
}

// Road is where the evidence on a number comes from.
type Road string

// The roads, the best first.
const (
	RoadPairs     Road = "pairs"
	RoadHistory   Road = "history"
	RoadThreshold Road = "threshold"
)

// Road returns the road of a number that was judged; "" for what is none.
func (e *Evidence) Road() Road {
	switch {
	case e.Method == "threshold" && e.Mode == "":
		return RoadThreshold
	case e.Method != "evidence":
		return ""
	case e.Mode == detect.Interleaved:
		return RoadPairs
	}
	return RoadHistory
}

// sightOf sums up the minimum detectable effects of all numbers, road by road.
func sightOf(verdicts []Verdict) []Sight {
	found, convicts := map[Road][]float64{}, map[Road]bool{}
	for i := range verdicts {
		v := &verdicts[i]
		road := v.Evidence.Road()
		if road == "" || v.Cell == "" || !(v.Evidence.MDE > 0) {
			continue
		}
		found[road] = append(found[road], v.Evidence.MDE)
		convicts[road] = convicts[road] || road != RoadHistory || v.Evidence.NewN >= leastHeads
	}
	var out []Sight
	for _, road := range []Road{RoadPairs, RoadHistory, RoadThreshold} {
		if all := found[road]; len(all) > 0 {
			slices.Sort(all)
			out = append(out, Sight{road, len(all), all[(len(all)-1)/2], all[(9*len(all)+9)/10-1], convicts[road]})
		}
	}
	return out
}
