package gauge

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// maxProcessors bounds the processors whose clocks are read, because a read may wake one.
const maxProcessors = 16

// readCPU reads the clocks of processors until ctx is done: of those that are read, the
// highest, because idle ones lower theirs. Virtual machines mostly have no such files.
func (g *Gauge) readCPU(ctx context.Context) {
	files, _ := filepath.Glob(filepath.Join(cmp.Or(g.o.Root, "/"), "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"))
	files = files[:min(len(files), maxProcessors)]
	if len(files) == 0 {
		return
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		highest := 0.0
		for _, file := range files {
			if khz, ok := readKHz(file); ok {
				highest = max(highest, khz)
			}
		}
		if highest > 0 {
			g.add(g.o.Now(), highest/1000)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func readKHz(path string) (float64, bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	const maximum = 64 // bytes; the file holds one number
	data, err := io.ReadAll(io.LimitReader(f, maximum))
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
	return v, err == nil && v >= 0 && v <= 1e9
}
