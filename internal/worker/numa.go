package worker

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// Nodes is the environment variable that names the NUMA nodes of a child, and what descends from
// it: a list such as 0 or 0,1. All memory comes from them, and where [CPUs] names no
// processors, it runs on theirs. It works on Linux and in containers. Elsewhere a child with it
// does not start.
const Nodes = "ACCELGATE_NUMA"

// binding is where a child runs. Nil is where this process does.
type binding struct {
	cpus, nodes []int
	loose       bool // cpus are those of nodes, and may be fewer here
}

// bindingOf reads the variables of a child; root is where the folder sys is.
func bindingOf(environ []string, root string) (b binding, err error) {
	if list := Getenv(environ, Nodes); list != "" {
		if b.nodes, err = ParseNodes(list); err != nil {
			return b, err
		}
		b.loose = true
		for _, node := range b.nodes {
			of, err := processorsOf(root, node)
			if err != nil {
				return b, err
			}
			b.cpus = append(b.cpus, of...)
		}
	}
	if list := Getenv(environ, CPUs); list != "" {
		b.loose = false
		b.cpus, err = ParseCPUs(list)
	}
	return b, err
}

// ParseNodes returns the NUMA nodes of a list such as 0,1.
func ParseNodes(list string) ([]int, error) {
	nodes, err := ParseCPUs(list)
	if err != nil {
		return nil, fmt.Errorf("%s is not a list of NUMA nodes: write numbers, such as 0 or 0,1", text.Quote(list, 80))
	}
	return nodes, nil
}

// maxList bounds what is read of a list of processors, in bytes.
const maxList = 64 << 10

// processorsOf returns the processors of a NUMA node, of which one of memory alone has none. See
// /sys/devices/system/node in the kernel's documentation (sysfs-devices-node). Other systems than
// Linux list none: there the engine has the nodes of its containers.
func processorsOf(root string, node int) ([]int, error) {
	if runtime.GOOS != "linux" {
		return nil, nil
	}
	file, err := os.Open(filepath.Join(root, "sys/devices/system/node", "node"+strconv.Itoa(node), "cpulist"))
	if err != nil {
		return nil, fmt.Errorf("this host has no NUMA node %d that accelgate can see: correct numa, or remove it (lscpu lists the nodes)",
			node)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxList))
	list := strings.TrimSpace(string(data))
	if err != nil || list == "" {
		return nil, err
	}
	cpus, err := ParseCPUs(list)
	if err != nil {
		return nil, fmt.Errorf("the processors of NUMA node %d: %w", node, err)
	}
	return cpus, nil
}
