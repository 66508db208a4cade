package detection

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Hold compares printed tables with the CSV file of that name in docs/detection/data below root, or
// writes the file. The error names the command that writes it.
func Hold(root, name, tables string, update bool) error {
	path := filepath.Join(root, "docs", "detection", "data", name)
	measured := CSV(tables)
	if update {
		return os.WriteFile(path, measured, 0o644)
	}
	recorded, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(recorded, measured) {
		err = fmt.Errorf("docs/detection/data/%s does not hold what was measured: run make evaluate UPDATE=1", name)
	}
	return err
}

// CSV converts printed tables. A row has the title of its table, unless there is one table only, and
// the columns of all tables in one order.
func CSV(tables string) []byte {
	var columns, header []string
	var rows []map[string]string
	title, titles := "", 0
	for line := range strings.Lines(tables) {
		if name, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
			title, header, titles = strings.TrimSpace(name), nil, titles+1
		}
		cells, ok := cellsOf(line)
		switch {
		case !ok:
		case header == nil:
			header, columns = cells, merged(columns, cells)
		default:
			rows = append(rows, rowOf(title, header, cells))
		}
	}
	if titles > 1 {
		columns = slices.Insert(columns, 0, "table")
	}
	return encode(columns, rows)
}

// cellsOf splits a line of a table, and is false for any other line and for the rule below a header.
func cellsOf(line string) ([]string, bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "| ") {
		return nil, false
	}
	return strings.Split(strings.NewReplacer("**", "", "`", "").Replace(strings.Trim(line, "| ")), " | "), true
}

// merged adds to columns those of a header, each behind its neighbour in the header.
func merged(columns, header []string) []string {
	at := 0
	for _, name := range header {
		if i := slices.Index(columns, name); i >= 0 {
			at = i + 1
			continue
		}
		columns = slices.Insert(columns, at, name)
		at++
	}
	return columns
}

func rowOf(title string, header, cells []string) map[string]string {
	row := map[string]string{"table": title}
	for i, cell := range cells {
		row[header[i]] = cell
	}
	return row
}

func encode(columns []string, rows []map[string]string) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Write(columns)
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, name := range columns {
			cells[i] = row[name]
		}
		w.Write(cells)
	}
	w.Flush()
	return out.Bytes()
}
