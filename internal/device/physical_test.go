package device_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/device"
)

func TestPhysical(t *testing.T) {
	const cpu = "proc/cpuinfo"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"nothing is known", nil, false},
		{"x86", map[string]string{cpu: "flags\t\t: fpu vme sse2\n", "sys/class/dmi/id/sys_vendor": "Dell Inc.\n"}, true},
		{"x86 guest", map[string]string{cpu: "model name\t: EPYC\nflags\t\t: fpu hypervisor lahf_lm\n"}, false},
		{"x86 guest, the last flag", map[string]string{cpu: "flags\t\t: fpu hypervisor\n"}, false},
		{"Arm server", map[string]string{cpu: "processor : 0\n", "sys/class/dmi/id/sys_vendor": "GIGABYTE\n"}, true},
		{"Arm board", map[string]string{cpu: "processor : 0\n", "proc/device-tree/compatible": "nvidia,p3701-0000\x00nvidia,tegra234\x00"}, true},
		{"Arm guest", map[string]string{cpu: "processor : 0\n", "sys/class/dmi/id/sys_vendor": "QEMU\n"}, false},
		{"Arm guest without firmware", map[string]string{cpu: "processor : 0\n", "proc/device-tree/compatible": "linux,dummy-virt\x00"}, false},
		{"Arm of a cloud", map[string]string{cpu: "processor : 0\n", "sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "c7g.large\n"}, false},
		{"metal of a cloud", map[string]string{cpu: "processor : 0\n", "sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "c7g.metal\n"}, true},
		{"Xen", map[string]string{cpu: "flags : fpu\n", "sys/hypervisor/type": "xen\n"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range test.files {
				path := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := device.Physical(root); got != test.want {
				t.Errorf("%v", got)
			}
		})
	}
}
