package formats

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// isNCCLTests reports the table of nccl-tests, and of rccl-tests, whose heading is the same.
func isNCCLTests(data []byte) bool {
	return bytes.Contains(data, []byte("algbw")) && bytes.Contains(data, []byte("busbw")) && bytes.Contains(data, []byte("out-of-place"))
}

// ncclColumns is the number of columns of a row: size, count, type, redop and root, and then for each of the two places
// time, algbw, busbw and #wrong.
const ncclColumns = 13

// ncclTests reads what a program of nccl-tests or rccl-tests prints, such as all_reduce_perf (src/common.cu, "BenchTime").
// A row is a size in bytes; with several types or operations in one table these are part of its name. The bus bandwidth of
// both places is gated. A row with wrong values has failed; "N/A" stands for values that were not checked (-c 0).
func ncclTests(data []byte) (*sheet, error) {
	if !isNCCLTests(data) {
		return nil, nil
	}
	s := &sheet{key: "size", context: map[string]string{"client": "nccl-tests"}}
	rows := ncclRows(data)
	several := slices.ContainsFunc(rows, func(f []string) bool { return !slices.Equal(f[2:5], rows[0][2:5]) })
	for _, f := range rows {
		name := f[0]
		if several {
			name = strings.Join([]string{f[0], f[2], f[3], f[4]}, "/")
		}
		if err := s.ncclRow(name, f); err != nil {
			return nil, err
		}
	}
	if len(s.rows) == 0 {
		return nil, errors.New("the table of nccl-tests has no row: see above it why the program ended early")
	}
	return s, nil
}

// ncclRows returns the columns of each row.
func ncclRows(data []byte) (rows [][]string) {
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line[:min(len(line), 1024)]))
		if len(f) == ncclColumns && digits(f[0]) && digits(f[1]) && len(rows) <= maxBenchmarks {
			rows = append(rows, f)
		}
	}
	return rows
}

func (s *sheet) ncclRow(name string, f []string) error {
	for _, place := range []struct {
		prefix string
		at     int
	}{{"", 5}, {"in_place_", 9}} {
		if wrong := f[place.at+3]; wrong != "0" && wrong != "N/A" {
			return s.fail(name, wrong+" values are wrong: the collective computed something else")
		}
		for i, m := range []bench.Metric{
			{Name: place.prefix + "time_us", Unit: "us", Better: bench.Lower, Informational: true},
			{Name: place.prefix + "algbw", Unit: "GB/s", Better: bench.Higher, Informational: true},
			{Name: place.prefix + "busbw", Unit: "GB/s", Better: bench.Higher},
		} {
			v, err := finite(f[place.at+i])
			if err != nil {
				return fmt.Errorf("%s of size %.40s: %w: see the log of the program", m.Name, f[0], err)
			}
			if v == 0 && m.Better == bench.Higher { // printed with two digits: small sizes have none
				continue
			}
			if err := s.add(name, m, v); err != nil {
				return err
			}
		}
	}
	return nil
}
