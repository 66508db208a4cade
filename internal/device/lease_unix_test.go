//go:build unix

package device_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// openDir returns a folder that all users may enter, unlike t.TempDir. Its name
// is short, as that of a socket must be.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lease")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Links and pipes in the place of a lease file are neither followed, nor
// waited for, nor changed.
func TestLeaseFilePlantedByOthers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		plant func(path, victim string) error
	}{
		{"link", func(path, victim string) error { return os.Symlink(victim, path) }},
		{"link to nothing", func(path, victim string) error { return os.Symlink(victim+"-to-be", path) }},
		{"second name of a file", func(path, victim string) error { return os.Link(victim, path) }},
		{"FIFO", func(path, _ string) error { return syscall.Mkfifo(path, 0o666) }},
		{"folder", func(path, _ string) error { return os.Mkdir(path, 0o777) }},
		{"socket", func(path, _ string) error {
			_, err := net.Listen("unix", path)
			return err
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			top := openDir(t)
			dir, victim := filepath.Join(top, "leases"), filepath.Join(top, "victim")
			write(t, victim, "precious")
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := test.plant(filepath.Join(dir, "nvidia-0.lock"), victim); err != nil {
				t.Fatal(err)
			}
			_, err := now(t, dir, nvidia("0"))
			if err == nil || !strings.Contains(err.Error(), "is not a lease file, but a link or something else: remove it") {
				t.Errorf("error %v", err)
			}
			if text := leaseFile(t, top, "victim"); text != "precious" {
				t.Errorf("the file of another user now says %q", text)
			}
			if _, err := os.Lstat(victim + "-to-be"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a link to nothing was followed: %v", err)
			}
		})
	}
}

func TestLeaseFolderIsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := now(t, filepath.Join(dir, "link"), nvidia("0")); err == nil || !strings.Contains(err.Error(), "it is not a folder") {
		t.Errorf("error %v, want the link refused", err)
	}
}

// Whatever the umask of the first job, the next user can lease.
func TestLeaseIsSharedByUsers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "leases")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := startCommand(t, exec.Command("sh", "-c", `umask 077 && exec "$0"`, self), "hold", job{Dir: dir, Devices: nvidia("0")})
	o.expect(t, "held")
	for path, want := range map[string]fs.FileMode{
		dir:                                 fs.ModeDir | fs.ModeSticky | 0o777,
		filepath.Join(dir, "nvidia-0.lock"): 0o666,
	} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, error %v, want %v", path, info.Mode(), err, want)
		}
	}
	t.Run("root and another", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("takes two users: run the tests as root")
		}
		o.end()
		stranger := startAs(t, 65534, job{Dir: dir, Name: "stranger", Devices: nvidia("0", "1")})
		stranger.expect(t, "held")
		_, err := now(t, dir, nvidia("0"))
		wantBusy(t, err, "job stranger")
		_, err = now(t, dir, nvidia("1"))
		wantBusy(t, err, "job stranger")
		stranger.end()
		if _, err := now(t, dir, nvidia("0", "1")); err != nil {
			t.Error(err)
		}
	})
}

// startAs starts a holding job as another user, from a copy of the test
// binary, which go keeps in a folder of its own user.
func startAs(t *testing.T, uid uint32, j job) *other {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(openDir(t), "job")
	for d := filepath.Dir(program); d != filepath.Dir(d); d = filepath.Dir(d) {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm()&1 == 0 {
			t.Skipf("other users cannot enter %s: set TMPDIR to a folder that they can, such as /tmp", d)
		}
	}
	// Copied by another process: a file that a child of this one happens to
	// inherit open for writing cannot be started.
	if out, err := exec.Command("sh", "-c", `cp "$0" "$1" && chmod 755 "$1"`, self, program).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	cmd := exec.Command(program)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return startCommand(t, cmd, "hold", j)
}

// A file that its owner keeps to himself is an error that says what to do.
func TestLeaseFileClosedToOthers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("takes two users: run the tests as root")
	}
	dir := filepath.Join(openDir(t), "leases")
	if _, err := now(t, dir, nil); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "nvidia-0.lock"), "")
	o := startAs(t, 65534, job{Dir: dir, Devices: nvidia("0")})
	if !o.lines.Scan() || !strings.Contains(o.lines.Text(), "permission denied: have its owner remove it or make it writable for all") {
		t.Errorf("the other user reads %q", o.lines.Text())
	}
}
