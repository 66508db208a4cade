package doctor

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/text"
)

// settingsQuery are names of nvidia-smi --help-query-gpu.
const settingsQuery = "index,persistence_mode,power.limit,power.default_limit,clocks.applications.graphics,clocks.default_applications.graphics"

// settings looks at what an administrator may have set on NVIDIA's devices. No tool
// shows clocks that nvidia-smi -lgc locked.
func (l *look) settings(ctx context.Context) {
	if !l.has(device.NVIDIA) {
		return
	}
	out, ok := l.output(ctx, "nvidia-smi", "--query-gpu="+settingsQuery, "--format=csv,noheader,nounits")
	rows, err := rowsOf(out)
	if !ok || err != nil {
		l.add("settings", Unknown, "nvidia-smi does not show persistence mode, power limits and clocks", "type nvidia-smi -q to see why")
		return
	}
	good := len(l.findings)
	for _, r := range rows {
		gpu := text.Cut(r[0], 10)
		if r[1] == "Disabled" && l.GOOS == "linux" {
			l.add("persistence", Warning, "GPU "+gpu+" loads its driver anew for each process, which takes time and resets clocks",
				"sudo nvidia-smi -i "+gpu+" -pm 1")
		}
		if lower(r[2], r[3]) {
			l.add("power", Warning, fmt.Sprintf("GPU %s may use %s W of its usual %s W", gpu, r[2], r[3]),
				fmt.Sprintf("sudo nvidia-smi -i %s -pl %s", gpu, r[3]))
		}
		if lower(r[4], r[5]) || lower(r[5], r[4]) {
			l.add("clocks", Warning,
				fmt.Sprintf("GPU %s has application clocks of %s MHz, not the usual %s: set them on each start, or not at all", gpu, r[4],
					r[5]), "sudo nvidia-smi -i "+gpu+" -rac")
		}
	}
	if len(l.findings) == good {
		l.ok("settings", "persistence mode, power limit and application clocks of %s are at their defaults; locked clocks cannot be read",
			text.Plural(len(rows), "GPU"))
	}
}

// rowsOf are the devices, six fields each; a number that is none, such as "[N/A]", stays text.
func rowsOf(out string) ([][]string, error) {
	r := csv.NewReader(strings.NewReader(out))
	r.TrimLeadingSpace, r.FieldsPerRecord, r.LazyQuotes = true, 6, true
	rows, err := r.ReadAll()
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("no device")
	}
	for _, row := range rows {
		if _, wrong := strconv.Atoi(row[0]); wrong != nil {
			return nil, wrong
		}
	}
	return rows, err
}

// lower reports whether both are numbers and the first is the lower one.
func lower(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, wrong := strconv.ParseFloat(b, 64)
	return err == nil && wrong == nil && x < y
}

// governor looks at how Linux chooses the processors' clocks.
func (l *look) governor(context.Context) {
	if l.GOOS != "linux" {
		return
	}
	files, _ := filepath.Glob(filepath.Join(l.root(), "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	slow, name := 0, ""
	for _, file := range files {
		data, err := os.ReadFile(file)
		if governor := strings.TrimSpace(string(data)); err == nil && governor != "performance" {
			slow, name = slow+1, governor
		}
	}
	switch {
	case len(files) == 0:
		l.ok("governor", "this host has no governor, as is usual for virtual ones: the hypervisor chooses the clocks")
	case slow > 0:
		l.add("governor", Warning,
			fmt.Sprintf("%d of %s choose their clocks by %s, which adds noise", slow, text.Plural(len(files), "processor"),
				text.Quote(name, 40)), "sudo cpupower frequency-set --governor performance")
	default:
		l.ok("governor", "%s at performance", text.Plural(len(files), "processor"))
	}
}

func (l *look) root() string {
	if l.Root == "" {
		return "/"
	}
	return l.Root
}
