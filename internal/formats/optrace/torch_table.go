package optrace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// torchTable reads what prof.key_averages().table() returns, for any device:
// Self CUDA, Self XPU, Self NPU, Self PRIVATEUSE1.
//
// If time was spent on a device, operators are what ran there. PyTorch shows
// that time twice, in the rows of the operators that launched a kernel and in
// the row of the kernel, which has no CPU time. The kernels count, as in
// torch-trace, without the rows that repeat the name of a range on the host; a
// table that has none of them, as those of old versions, counts by the operators
// that launched them. Without any time on a device, operators are by Self CPU.
//
// The total is the one below the table, else the sum: PyTorch prints 0 for
// some devices. The table shows 100 rows unless row_limit says otherwise. Names
// are cut to 52 characters, unless max_name_column_width says otherwise: those
// that are equal then are summed.
func torchTable(data []byte) (*Profile, error) {
	var r torchRows
	t := table{accepts: r.accepts, row: r.row, footer: []byte("Self CPU time total:"), outside: r.outside}
	found, err := t.read(data)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("the output %w: it has no table with Name and Self CPU; print prof.key_averages().table()", ErrNone)
	case len(r.rows) == 0:
		return nil, errors.New("the table has no rows: see in the program's log why nothing was profiled")
	}
	rows, total := r.onDevice(), r.deviceTotal
	if len(rows) == 0 {
		rows, total = r.onHost(), r.hostTotal
	}
	var ops operators
	for _, row := range rows {
		if err := ops.add([]byte(row.name), row.device, row.calls); err != nil {
			return nil, err
		}
	}
	p := &Profile{}
	if p.Operators, p.Total = ops.sorted(); total > 0 {
		p.Total = total
	}
	return p.checked(printedRounding(len(p.Operators)))
}

type torchRows struct {
	device                                  string // "CUDA"; "" where the table has none
	name, selfHost, host, selfDevice, calls int    // columns, selfDevice -1 where there is none
	rows                                    []torchRow
	hostTotal, deviceTotal                  float64
}

type torchRow struct {
	name                   string
	selfHost, host, device float64 // in seconds, the device's being its own
	calls                  int64
}

func (r *torchRows) accepts(g *grid) bool {
	r.name, r.selfHost, r.host = g.column("Name"), g.column("Self CPU"), g.column("CPU total")
	r.calls, r.selfDevice = max(g.column("# of Calls"), g.column("Number of Calls")), -1
	for i, name := range g.names {
		device, ok := strings.CutPrefix(name, "Self ")
		if ok && device != "CPU" && g.column(device+" total") >= 0 {
			r.device, r.selfDevice = device, i
			break
		}
	}
	return min(r.name, r.selfHost, r.host, r.calls) >= 0
}

func (r *torchRows) row(cells [][]byte) (err error) {
	if len(cells[r.name]) == 0 && len(cells[r.calls]) == 0 {
		return nil // more of a stack
	}
	row := torchRow{name: string(cells[r.name])}
	for _, cell := range []struct {
		at   int
		into *float64
	}{{r.selfHost, &row.selfHost}, {r.host, &row.host}, {r.selfDevice, &row.device}} {
		if cell.at >= 0 && err == nil {
			*cell.into, err = printedTime(cells[cell.at])
		}
	}
	calls, err2 := count(cells[r.calls])
	if err = cmp.Or(err, err2); err != nil {
		return fmt.Errorf("operator %s: %w: see whether the table is PyTorch's", quote(cells[r.name]), err)
	}
	if len(r.rows) == maxRows {
		return fmt.Errorf("the table has more than %d rows: print it with row_limit", maxRows)
	}
	row.calls = calls
	r.rows = append(r.rows, row)
	return nil
}

// outside takes the totals below the table.
func (r *torchRows) outside(line []byte) (err error) {
	label, text, ok := bytes.Cut(line, []byte(" time total: "))
	if !ok {
		return nil
	}
	switch string(label) {
	case "Self CPU":
		r.hostTotal, err = printedTime(bytes.TrimSpace(text))
	case "Self " + r.device:
		r.deviceTotal, err = printedTime(bytes.TrimSpace(text))
	}
	if err != nil {
		return fmt.Errorf("the total of %s: %w: see whether the table is PyTorch's", quote(label), err)
	}
	return nil
}

// onDevice returns the rows of a device, if there are any.
func (r *torchRows) onDevice() (rows []torchRow) {
	ranges := map[string]bool{} // names on the host
	var launched []torchRow
	for _, row := range r.rows {
		if row.host == 0 && row.selfHost == 0 {
			continue
		}
		ranges[row.name] = true
		if row.device > 0 {
			launched = append(launched, row)
		}
	}
	for _, row := range r.rows {
		if row.device > 0 && row.host == 0 && row.selfHost == 0 && !ranges[row.name] {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return launched
	}
	return rows
}

// onHost returns all rows with the time of the host.
func (r *torchRows) onHost() (rows []torchRow) {
	for _, row := range r.rows {
		row.device = row.selfHost
		rows = append(rows, row)
	}
	return rows
}
