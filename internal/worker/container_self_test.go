package worker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/api/types/container"
)

var (
	ownID   = strings.Repeat("0a1b", 16)
	otherID = strings.Repeat("c2d3", 16)
)

// The lines are shaped as Docker 20 and podman 4 make them, with our ids.
func TestContainerIDs(t *testing.T) {
	tests := []struct {
		name, cgroup, mountinfo string
		want                    []string
	}{
		{
			name:   "Docker, control groups of version 1",
			cgroup: "12:pids:/docker/ID\n1:name=systemd:/docker/ID\n0::/docker/ID\n",
			want:   []string{ownID},
		},
		{
			name:   "Docker, systemd",
			cgroup: "0::/system.slice/docker-ID.scope\n",
			want:   []string{ownID},
		},
		{
			name:   "podman",
			cgroup: "0::/machine.slice/libpod-ID.scope/container\n",
			want:   []string{ownID},
		},
		{
			name:      "Docker, own control groups",
			cgroup:    "0::/\n",
			mountinfo: "715 692 254:1 /var/lib/docker/containers/ID/hostname /etc/hostname rw,relatime - ext4 /dev/vda1 rw\n",
			want:      []string{ownID},
		},
		{
			name:   "podman that shares the network of another container",
			cgroup: "0::/\n",
			mountinfo: "1 2 0:5 /containers/storage/overlay-containers/OTHER/userdata/hosts /etc/hosts rw - tmpfs tmpfs rw\n" +
				"3 2 0:5 /containers/storage/overlay-containers/ID/userdata/.containerenv /run/.containerenv rw - tmpfs tmpfs rw\n",
			want: []string{ownID, otherID},
		},
		{
			name:      "the engine's machine, with a container on it",
			cgroup:    "0::/user.slice/user-1000.slice\n",
			mountinfo: "97 28 0:50 / /var/lib/docker/overlay2/OTHER/merged rw - overlay overlay rw\n98 28 0:5 / /var/lib/docker/containers/OTHER/mounts/shm rw - tmpfs shm rw\n",
		},
		{name: "no files"},
		{
			name:      "not ids",
			cgroup:    "0::/" + strings.Repeat("f", 63) + "\n1::/" + strings.Repeat("f", 65) + "\n2::/" + strings.Repeat("g", 64) + "\n::\n\n/",
			mountinfo: "1 2 3\n1 2 3 ID /etc/hostname\n",
			want:      []string{ownID},
		},
	}
	fill := strings.NewReplacer("ID", ownID, "OTHER", otherID)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := containerIDs([]byte(fill.Replace(test.cgroup)), []byte(fill.Replace(test.mountinfo)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLocate(t *testing.T) {
	s := &self{id: ownID, mounts: []container.MountPoint{
		{Destination: "/work", Source: "/srv/job", RW: true},
		{Destination: "/work/data", Source: "/mnt/data"},
		{Destination: "/tmp", Type: "tmpfs", RW: true},
		{Destination: "/vol", Type: "volume", Source: "/var/lib/docker/volumes/v/_data", RW: true},
	}}
	tests := []struct {
		path, want string
		readOnly   bool
		err        string
	}{
		{path: "/work", want: "/srv/job"},
		{path: "/work/a/b", want: "/srv/job/a/b"},
		{path: "/work/data", want: "/mnt/data", readOnly: true},
		{path: "/work/data/x", want: "/mnt/data/x", readOnly: true},
		{path: "/work/database", want: "/srv/job/database"},
		{path: "/vol/x", want: "/var/lib/docker/volumes/v/_data/x"},
		{path: "/workshop", err: "-v HOST:/workshop"},
		{path: "/tmp/x", err: "-v HOST:/tmp/x"},
		{path: "/", err: "-v HOST:/"},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			got, readOnly, err := s.locate(test.path)
			fails(t, err, test.err)
			if err == nil && (got != test.want || readOnly != test.readOnly) {
				t.Errorf("%s, read-only %v, want %s, %v", got, readOnly, test.want, test.readOnly)
			}
		})
	}
}

func TestLocateInAnUnknownContainer(t *testing.T) {
	dir := t.TempDir()
	_, _, err := (&engine{self: &self{}, host: "tcp://dind:2376"}).locate(dir)
	fails(t, err, "same_paths")
	if got, _, err := (&engine{}).locate(dir); got != dir || err != nil {
		t.Errorf("outside of containers %s is %s, %v", dir, got, err)
	}
}

// A container whose mounts are not ours is not ours, however we came by its id.
func TestIsHere(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	points := mountPoints([]byte("1 2 0:5 / / rw\n1 2 0:5 /x " + strings.ReplaceAll(real, " ", `\040`) + " rw\n3 4 0:5 / /with\\040space rw\n"))
	for dest, want := range map[string]bool{link + "/": true, "/with space": true, "/elsewhere": false} {
		if got := isHere(resolved([]container.MountPoint{{Destination: dest}}), points); got != want {
			t.Errorf("%s: %v, want %v", dest, got, want)
		}
	}
}

func FuzzContainerIDs(f *testing.F) {
	f.Add([]byte("0::/docker/"+ownID), []byte("1 2 3 /x/"+ownID+"/hostname /etc/hostname rw"))
	f.Add([]byte("\x00\xff:::\n//"), []byte("1 2 3 4\n\\040 \\134040 a b /etc/hosts"))
	f.Fuzz(func(t *testing.T, cgroup, mountinfo []byte) {
		for _, id := range containerIDs(cgroup, mountinfo) {
			if len(id) != 64 || !isHex(id) {
				t.Errorf("%q is taken for an id", id)
			}
		}
		mountPoints(mountinfo)
	})
}

func TestParseStat(t *testing.T) {
	after := strings.Repeat(" 0", 18)
	tests := []struct {
		text string
		want processStat
		ok   bool
	}{
		{"7 (cell) S" + after + " 4242 1 2 3", processStat{"S", 4242}, true},
		{"7 (a) R 1) (b) Z" + after + " 5", processStat{"Z", 5}, true},
		{"7 (cell) S 1 2 3", processStat{}, false},
		{"7 (cell) S" + after + " -1", processStat{"S", 0}, false},
		{"", processStat{}, false},
	}
	for _, test := range tests {
		if got, ok := parseStat([]byte(test.text)); ok != test.ok || got != test.want {
			t.Errorf("%q: %+v, %v, want %+v, %v", test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestOwner(t *testing.T) {
	o := thisProcess()
	if o == (owner{}) {
		t.Skip("no /proc here")
	}
	if !o.lives() {
		t.Errorf("%s does not live, and runs this test", o)
	}
	for name, gone := range map[string]owner{
		"another start": {o.boot, o.namespace, o.pid, o.started + 1},
		"no process":    {o.boot, o.namespace, 1 << 30, o.started},
	} {
		if gone.lives() {
			t.Errorf("%s: %s lives", name, gone)
		}
	}
}

// What is kept does not wait for a process, and what is not is abandoned.
func TestAbandoned(t *testing.T) {
	me := owner{"boot", "pid:[1]", os.Getpid(), 1}
	if here := thisProcess(); here != (owner{}) {
		me = here
	}
	label := func(boot, namespace string, started uint64) string {
		return owner{boot, namespace, me.pid, started}.String()
	}
	tests := []struct {
		name, label, host string
		state             container.ContainerState
		want              bool
	}{
		{"ours", me.String(), "unix:///x", container.StateRunning, false},
		{"of an earlier process", label(me.boot, me.namespace, me.started+1), "unix:///x", container.StateRunning, true},
		{"of another container, which is not named", label(me.boot, "pid:[2]", 1), "unix:///x", container.StateRunning, false},
		{"before the host was started", label("other", me.namespace, 1), "unix:///x", container.StateExited, true},
		{"of another host", label("other", me.namespace, 1), "unix:///x", container.StateRunning, false},
		{"of another host, ended", label("other", me.namespace, 1), "tcp://x:1", container.StateExited, false},
		{"malformed", "no-owner", "unix:///x", container.StateExited, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := &engine{owner: me, host: test.host}
			got := e.abandoned(t.Context(), container.Summary{Labels: map[string]string{labelOwner: test.label}, State: test.state})
			if got != test.want {
				t.Errorf("abandoned: %v, want %v", got, test.want)
			}
		})
	}
}

func FuzzOwner(f *testing.F) {
	f.Add("boot/pid:[4026531836]/7/42", []byte("7 (x) S 1 2"))
	f.Add("a/b/c/d", []byte("7 (x)) "+strings.Repeat("1 ", 30)))
	f.Add("/b/1/1", []byte(nil))
	f.Fuzz(func(t *testing.T, label string, stat []byte) {
		if o, ok := parseOwner(label); ok && (o.String() != label || o.pid <= 0) {
			t.Errorf("%q is taken for %s", label, o)
		}
		if s, ok := parseStat(stat); ok && (s.state == "" || strings.ContainsAny(s.state, " )")) {
			t.Errorf("%q: %+v", stat, s)
		}
	})
}
