// Package nvtools reads what NVIDIA's tools report of a program on a GPU: the CSV of
// Nsight Compute (ncu), and the text of Compute Sanitizer. Both are bounded, and
// hostile: the program that was looked at may have written them.
package nvtools

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// The limits of reports and of the parts that are kept.
const (
	MaxBytes    = 16 << 20 // of a report
	maxLaunches = 64       // kept, the last ones
	maxMetrics  = 256      // of a launch
	maxNotes    = 10
	maxText     = 300 // bytes of a name or message
)

// NCU is what Nsight Compute has measured.
type NCU struct {
	Launches int      `json:"launches"`         // of kernels, all of them
	Kernels  []Kernel `json:"kernels"`          // the last launches, in their order
	Errors   []string `json:"errors,omitempty"` // lines that the tool marks as errors
}

// Kernel is one launch.
type Kernel struct {
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	Metrics map[string]Metric `json:"metrics"`
	Advice  []string          `json:"advice,omitempty"` // of the tool's rules, without those that only inform
}

// Metric is a number with its unit as the tool writes it, such as "nsecond" or "%".
type Metric struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// ReadNCU reads the output of "ncu --csv", of the pages details and raw
// (docs.nvidia.com/nsight-compute/NsightComputeCli). Lines of the tool's log may stand
// around the table. A value that is no number is left out; without a table there are
// no launches.
func ReadNCU(data []byte) (NCU, error) {
	if len(data) > MaxBytes {
		return NCU{}, fmt.Errorf("ncu: the report has more than %d bytes: profile fewer kernels", MaxBytes)
	}
	n := ncuReader{at: map[string]int{}}
	table := n.log(data)
	r := csv.NewReader(bytes.NewReader(table))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	for row := 0; ; row++ {
		record, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return n.NCU, nil
		case err != nil:
			return NCU{}, fmt.Errorf("ncu: its CSV cannot be read (%w): see that nothing else writes to the file", err)
		case row == 0:
			n.header(slices.Clone(record))
		default:
			n.row(record)
		}
	}
}

// ncuReader builds a report row by row.
type ncuReader struct {
	NCU
	columns []string
	units   []string       // of the columns of the page raw
	at      map[string]int // columns by name
}

// log takes the lines that the tool logs, and returns the rest from the header on.
func (n *ncuReader) log(data []byte) []byte {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if bytes.HasPrefix(line, []byte(`"ID",`)) {
			break
		}
		n.complaint(string(line))
		data = rest
	}
	return data
}

// complaint keeps a line that the tool marks as an error, and reports whether it is one.
func (n *ncuReader) complaint(line string) bool {
	message, found := strings.CutPrefix(line, "==ERROR==")
	if found && len(n.Errors) < maxNotes {
		n.Errors = append(n.Errors, short(message))
	}
	return found
}

func (n *ncuReader) header(columns []string) {
	n.columns = columns
	for i, name := range columns {
		n.at[name] = i
	}
}

// field returns a column's value, "" if the row lacks it.
func (n *ncuReader) field(record []string, column string) string {
	if i, known := n.at[column]; known && i < len(record) {
		return record[i]
	}
	return ""
}

func (n *ncuReader) row(record []string) {
	if n.complaint(record[0]) {
		return
	}
	id := n.field(record, "ID")
	if id == "" { // the units of the page raw
		if n.units == nil && len(record) == len(n.columns) {
			n.units = slices.Clone(record)
		}
		return
	}
	if _, err := strconv.ParseUint(id, 10, 63); err != nil {
		return // a line of the log
	}
	k := n.kernel(id, n.field(record, "Kernel Name"))
	if _, details := n.at["Metric Name"]; details {
		k.detail(n.field(record, "Metric Name"), n.field(record, "Metric Unit"), n.field(record, "Metric Value"))
		k.advise(n.field(record, "Rule Type"), n.field(record, "Rule Description"))
		return
	}
	for i, column := range n.columns[:min(len(n.columns), len(record))] {
		unit := ""
		if n.units != nil {
			unit = n.units[i]
		}
		if strings.Contains(column, "__") { // the others say where the kernel ran
			k.detail(column, unit, record[i])
		}
	}
}

// kernel returns the launch of an id: rows of one stand together.
func (n *ncuReader) kernel(id, name string) *Kernel {
	if last := len(n.Kernels) - 1; last >= 0 && n.Kernels[last].ID == id {
		return &n.Kernels[last]
	}
	n.Launches++
	if len(n.Kernels) == maxLaunches {
		n.Kernels = slices.Delete(n.Kernels, 0, 1)
	}
	n.Kernels = append(n.Kernels, Kernel{ID: id, Name: short(name), Metrics: map[string]Metric{}})
	return &n.Kernels[len(n.Kernels)-1]
}

// detail adds a metric. Numbers have commas between thousands.
func (k *Kernel) detail(name, unit, written string) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(written, ",", ""), 64)
	if name == "" || err != nil || math.IsNaN(v) || math.IsInf(v, 0) || len(k.Metrics) >= maxMetrics {
		return
	}
	k.Metrics[short(name)] = Metric{v, short(unit)}
}

func (k *Kernel) advise(kind, description string) {
	if kind != "" && kind != "INF" && description != "" && len(k.Advice) < maxNotes {
		k.Advice = append(k.Advice, short(kind+": "+description))
	}
}

func short(s string) string {
	return text.OneLine(text.Clip(strings.TrimSpace(s), maxText))
}
