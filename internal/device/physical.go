package device

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Physical reports whether this host is known to be no virtual machine, whose processors
// are shared with guests that it cannot see. Only Linux is asked; root is where the folders
// proc and sys are, "" for "/".
func Physical(root string) bool {
	if root == "" {
		if runtime.GOOS != "linux" {
			return false
		}
		root = "/"
	}
	cpus, err := os.ReadFile(filepath.Join(root, "proc", "cpuinfo"))
	if err != nil || hasFlag(string(cpus), "hypervisor") {
		return false
	}
	for _, path := range []string{"sys/hypervisor/type", "proc/device-tree/hypervisor"} {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); err == nil {
			return false
		}
	}
	var made strings.Builder
	for _, path := range []string{"sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name", "proc/device-tree/compatible"} {
		text, _ := os.ReadFile(filepath.Join(root, filepath.FromSlash(path))) // not every machine has each
		made.Write(text)
		made.WriteByte('\n')
	}
	return !virtual(made.String())
}

// hasFlag reports whether a processor of /proc/cpuinfo has a flag. On x86, hypervisor is the
// bit of CPUID that all of them set.
func hasFlag(cpuinfo, flag string) bool {
	for line := range strings.Lines(cpuinfo) {
		if name, flags, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" &&
			slices.Contains(strings.Fields(flags), flag) {
			return true
		}
	}
	return false
}

// virtual reports whether a vendor and product are those of a virtual machine, as they name
// themselves: on Arm, no flag of the processor shows it.
func virtual(made string) bool {
	if strings.Contains(made, "Amazon EC2") {
		return !strings.Contains(made, ".metal")
	}
	return slices.ContainsFunc([]string{"QEMU", "KVM", "VMware", "VirtualBox", "Virtual Machine", "Xen", "Google Compute Engine",
		"OpenStack", "Parallels", "BHYVE", "Alibaba Cloud ECS", "dummy-virt"}, func(name string) bool { return strings.Contains(made, name) })
}
