package health

import (
	"context"
	"errors"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// askAscend asks npu-smi. Chips are counted in the order in which it lists them.
func askAscend(ctx context.Context, t tools, devices []bench.Device) (map[string]state, string) {
	out, trouble := t.run(ctx, "npu-smi", "info")
	if trouble != "" {
		return nil, trouble
	}
	chips, err := parseNPU(out)
	if err != nil {
		return nil, unread("npu-smi info", err)
	}
	return numbered(t, chips, devices, "npu-smi info")
}

// parseNPU reads npu-smi info: a table with two rows for each chip,
//
//	| 6     910B3           | OK            | 91.0        36            0    / 0             |
//	| 0                     | 0000:41:00.0  | 0           0    / 0      3401 / 65536         |
//
// of which the first says NPU, name, health, power, temperature and huge pages,
// the second chip, bus, use, memory, and memory of the high-bandwidth kind; then
// one of processes by NPU and chip. Health is the device's own word for heat and
// errors: OK, Warning, Alarm, Critical or UNKNOWN (npu-smi's reference).
func parseNPU(out []byte) (map[int]state, error) {
	chips := map[int]state{}
	at := map[string]int{}   // "NPU chip" -> number
	of := map[string][]int{} // numbers by NPU
	var first [][]string     // the row before, of the two
	npu := ""
	for line := range strings.Lines(string(out)) {
		row := rowOf(line)
		switch {
		case idleNPU(line) != "":
			for _, n := range of[idleNPU(line)] {
				chips[n] = chips[n].withList()
			}
			delete(of, idleNPU(line)) // it is said once
		case len(row) == 3 && len(row[0]) == 2 && len(row[1]) == 1 && !strings.Contains(row[1][0], ":") && first == nil &&
			isNumber(row[0][0]):
			first, npu = row, row[0][0]
		case len(row) == 3 && first != nil && len(row[0]) > 0 && strings.Contains(strings.Join(row[1], ""), ":") && len(chips) < maxList:
			at[npu+" "+row[0][0]] = len(chips)
			of[npu] = append(of[npu], len(chips))
			chips[len(chips)] = stateOfNPU(first, row)
			first = nil
		case len(row) == 4 && len(row[0]) > 0 && isNumber(row[0][0]):
			addNPUProcess(chips, at, row)
		default:
			first = nil
		}
	}
	if len(chips) == 0 {
		return nil, errors.New("it lists no chip")
	}
	return chips, nil
}

// rowOf splits a line of a table into its columns' words.
func rowOf(line string) (row [][]string) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") || len(line) < 2 {
		return nil
	}
	for column := range strings.SplitSeq(line[1:len(line)-1], "|") {
		row = append(row, strings.Fields(column))
	}
	return row
}

func isNumber(s string) bool {
	_, ok := number(s)
	return ok
}

// idleNPU returns the NPU of which a line says that nothing runs there.
func idleNPU(line string) string {
	_, rest, ok := strings.Cut(line, "No running processes found in NPU ")
	if fields := strings.Fields(rest); ok && len(fields) > 0 && isNumber(fields[0]) {
		return fields[0]
	}
	return ""
}

func (s state) withList() state {
	s.listed = true
	return s
}

func stateOfNPU(first, second [][]string) (s state) {
	health := first[1][0]
	switch health {
	case "OK":
	case "Warning", "Alarm", "Critical":
		s.faults = append(s.faults, "its health is "+health)
	default:
		s.untold = append(s.untold, "its health, which is "+text.Quote(health, 40))
	}
	for i, q := range []struct{ name, unit string }{{"power", "W"}, {"temperature", "C"}} {
		if i < len(first[2]) {
			v, known := quantity(first[2][i])
			s.add(q.name, q.unit, v, known)
		}
	}
	if len(second[2]) == 0 {
		return s
	}
	busy, known := quantity(second[2][0])
	s.add("busy", "%", busy, known)
	s.busy = busy / 100
	uses := strings.Join(second[2], " ") // "87 0 / 0 37709/ 65536"
	if before := strings.Fields(uses[:max(strings.LastIndexByte(uses, '/'), 0)]); len(before) > 0 {
		used, known := quantity(before[len(before)-1])
		s.add("memory used", "MiB", used, known)
	}
	return s
}

// addNPUProcess reads NPU and chip, process id, name, and memory in MiB.
func addNPUProcess(chips map[int]state, at map[string]int, row [][]string) {
	if len(row[0]) < 2 || len(row[1]) != 1 || len(row[3]) != 1 {
		return
	}
	n, ok := at[row[0][0]+" "+row[0][1]]
	pid, isPID := number(row[1][0])
	s := chips[n]
	if !ok || !isPID || len(s.users) == maxList {
		return
	}
	mib, _ := quantity(row[3][0])
	s.users, s.listed = append(s.users, user{pid: pid, mib: max(mib, 0)}), true
	chips[n] = s
}
