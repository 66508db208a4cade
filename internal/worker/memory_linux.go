package worker

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// oomKills returns how many processes the kernel has killed because memory ran
// out: of the control group of this process, which its children share, where
// version 2 of them counts it, and else on the whole host since it was booted.
func oomKills() (count int64, ok bool) {
	file := killCounts()
	if file == nil {
		return 0, false
	}
	var data [16 << 10]byte // a host counts 200 things in 5 KiB
	n, _ := file.ReadAt(data[:], 0)
	return counter(string(data[:n]), "oom_kill")
}

// killCounts is the file that counts them, which stays open: each child is preceded by a look at it.
var killCounts = sync.OnceValue(func() *os.File {
	for _, name := range []string{memoryEvents(), "/proc/vmstat"} {
		if file, err := os.Open(name); err == nil {
			return file
		}
	}
	return nil
})

// memoryEvents names the file that counts for our control group; it is absent
// where the group is the root one. See cgroups(7) for the line "0::/path".
func memoryEvents() string {
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/"); ok {
			return filepath.Join("/sys/fs/cgroup", filepath.Clean("/"+path), "memory.events")
		}
	}
	return ""
}

// counter finds the line "name value".
func counter(lines, name string) (value int64, ok bool) {
	for line := range strings.Lines(lines) {
		if text, found := strings.CutPrefix(line, name+" "); found {
			value, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return value, err == nil
		}
	}
	return 0, false
}
