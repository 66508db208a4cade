package worker

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
)

func TestParseMount(t *testing.T) {
	tests := []struct {
		text string
		want mount.Mount
		err  string
	}{
		{text: "/a:/b", want: mount.Mount{Type: "bind", Source: "/a", Target: "/b"}},
		{text: "/a:/b:rw", want: mount.Mount{Type: "bind", Source: "/a", Target: "/b"}},
		{text: "/a:/b:ro", want: mount.Mount{Type: "bind", Source: "/a", Target: "/b", ReadOnly: true}},
		{text: "", err: "write HOST:CONTAINER"},
		{text: "/a", err: "write HOST:CONTAINER"},
		{text: "/a:/b:z", err: "write HOST:CONTAINER"},
		{text: "/a:/b:ro:ro", err: "write HOST:CONTAINER"},
		{text: "a:/b", err: "not absolute"},
		{text: "volume:/b", err: "not absolute"},
		{text: "/a:b", err: "not absolute"},
		{text: "/a,source=/etc:/b", err: "rename it"},
		{text: "/a:/b\nc", err: "rename it"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got, err := parseMount(test.text)
			fails(t, err, test.err)
			if diff := cmp.Diff(test.want, got); diff != "" && err == nil {
				t.Errorf("mount (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseDevices(t *testing.T) {
	tests := []struct {
		text string
		want container.DeviceMapping
		cdi  []string
		err  string
	}{
		{text: "/dev/kfd", want: container.DeviceMapping{PathOnHost: "/dev/kfd", PathInContainer: "/dev/kfd", CgroupPermissions: "rwm"}},
		{text: "/dev/a:/dev/b", want: container.DeviceMapping{PathOnHost: "/dev/a", PathInContainer: "/dev/b", CgroupPermissions: "rwm"}},
		{text: "/dev/a:/dev/b:r", want: container.DeviceMapping{PathOnHost: "/dev/a", PathInContainer: "/dev/b", CgroupPermissions: "r"}},
		{text: "amd.com/gpu=0", cdi: []string{"amd.com/gpu=0"}},
		{text: "", err: "not absolute"},
		{text: "kfd", err: "not absolute"},
		{text: "/dev/a:/dev/b:", err: "write HOST"},
		{text: "/dev/a:/dev/b:x", err: "write HOST"},
		{text: "/dev/a:/dev/b:r:w", err: "write HOST"},
		{text: "/dev/a:rwm", err: "not absolute"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			files, cdi, err := parseDevices([]string{test.text})
			fails(t, err, test.err)
			var want []container.DeviceMapping
			if test.want.PathOnHost != "" {
				want = append(want, test.want)
			}
			if diff := cmp.Diff(want, files) + cmp.Diff(test.cdi, cdi); diff != "" {
				t.Errorf("devices (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGPUs(t *testing.T) {
	capability := [][]string{{"gpu"}}
	tests := []struct {
		text           string
		docker, podman []container.DeviceRequest
		err            string
	}{
		{text: ""},
		{
			text:   "all",
			docker: []container.DeviceRequest{{Count: -1, Capabilities: capability}},
			podman: []container.DeviceRequest{{Driver: "cdi", DeviceIDs: []string{"nvidia.com/gpu=all"}}},
		},
		{
			text:   "2",
			docker: []container.DeviceRequest{{Count: 2, Capabilities: capability}},
			podman: []container.DeviceRequest{{Driver: "cdi", DeviceIDs: []string{"nvidia.com/gpu=0", "nvidia.com/gpu=1"}}},
		},
		{
			text:   "device=0,GPU-1a2b",
			docker: []container.DeviceRequest{{DeviceIDs: []string{"0", "GPU-1a2b"}, Capabilities: capability}},
			podman: []container.DeviceRequest{{Driver: "cdi", DeviceIDs: []string{"nvidia.com/gpu=0", "nvidia.com/gpu=GPU-1a2b"}}},
		},
		{
			text:   "device=MIG-5ca1ab1e-0000-5000-8000-000000000000,MIG-GPU-1a2b/1/0", // and as drivers before 470 name a slice
			docker: []container.DeviceRequest{{DeviceIDs: []string{"MIG-5ca1ab1e-0000-5000-8000-000000000000", "MIG-GPU-1a2b/1/0"}, Capabilities: capability}},
			podman: []container.DeviceRequest{{Driver: "cdi", DeviceIDs: []string{"nvidia.com/gpu=MIG-5ca1ab1e-0000-5000-8000-000000000000", "nvidia.com/gpu=MIG-GPU-1a2b/1/0"}}},
		},
		{text: "0", err: "write \"all\""},
		{text: "-1", err: "write \"all\""},
		{text: "1000000000", err: "write \"all\""},
		{text: "device=", err: "write \"all\""},
		{text: "device=0,", err: "write \"all\""},
		{text: "0,1", err: "write \"all\""},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got, err := parseGPUs(test.text)
			fails(t, err, test.err)
			if diff := cmp.Diff(test.docker, deviceRequests(false, got, nil)) + cmp.Diff(test.podman, deviceRequests(true, got, nil)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// An old podman would run a cell without its GPUs, and say nothing.
func TestGPUsAreNotIgnored(t *testing.T) {
	for version, refused := range map[string]bool{"4.9.3": true, "5.3.2": true, "5.4.0": false, "6.0.0": false, "": false} {
		e := &engine{version: version, podman: version != ""}
		for _, w := range []*Container{{GPUs: "all"}, {Devices: []string{"amd.com/gpu=0"}}} {
			if err := w.supported(e); (err != nil) != refused {
				t.Errorf("podman %q, %+v: error %v, want one: %v", version, w, err, refused)
			}
		}
		if err := (&Container{Devices: []string{"/dev/kfd"}}).supported(e); err != nil {
			t.Errorf("podman %q: %v", version, err)
		}
	}
}

func fails(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// What is taken for a mount has exactly two paths that no engine reads as more.
func FuzzParseMount(f *testing.F) {
	for _, text := range []string{"/a:/b", "/a:/b:ro", "/a,b:/c", `/"a":/c`, "::", "/:/", "/a\x00:/b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMount(text)
		if err != nil {
			return
		}
		if !filepath.IsAbs(m.Source) || !filepath.IsAbs(m.Target) || strings.ContainsAny(m.Source+m.Target, ",:\"\n\x00") {
			t.Errorf("%q is taken for %+v", text, m)
		}
		if again, err := parseMount(m.Source + ":" + m.Target); err != nil || again.Source != m.Source || again.Target != m.Target {
			t.Errorf("%q is %+v and then %+v, %v", text, m, again, err)
		}
	})
}

func FuzzParseDevices(f *testing.F) {
	for _, text := range []string{"/dev/a", "/dev/a:/dev/b:rw", "a.b/c=d", "a/b=c:d", "/dev/a:::", "device=0,1", "all", "7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		files, cdi, err := parseDevices([]string{text})
		if err == nil && len(files)+len(cdi) != 1 {
			t.Errorf("%q is taken for %v and %v", text, files, cdi)
		}
		for _, d := range files {
			if !filepath.IsAbs(d.PathOnHost) || !filepath.IsAbs(d.PathInContainer) || strings.Trim(d.CgroupPermissions, "rwm") != "" {
				t.Errorf("%q is taken for %+v", text, d)
			}
		}
		if g, err := parseGPUs(text); err == nil && text != "" && len(g.names()) == 0 {
			t.Errorf("%q is taken for no GPUs", text)
		}
	})
}
