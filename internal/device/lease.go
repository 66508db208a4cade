package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// LeaseOptions describes what to lease and for whom.
type LeaseOptions struct {
	// Dir is the folder of the lease files, which all jobs of the host must
	// share. It is made where it is missing, open to all users; the folder
	// that it is in must exist.
	Dir string
	// Devices are those to lease; none is fine.
	Devices []bench.Device
	// Shared are devices that others may lease as shared as well, and not as a whole: those
	// that slices among Devices are parts of, by UUID.
	Shared []bench.Device
	// Holder and Job tell others who leases the devices: the runner's name,
	// and what it works on. They are cut to a line.
	Holder, Job string
	// Wait is how long to wait for devices that others lease. Zero waits only
	// for the moment that it takes to read who they are.
	Wait time.Duration
	// Waiting is called while Acquire waits, once for each change of the holders it
	// waits for. Nil is fine.
	Waiting func(Held)
	// Now returns the time that waiting jobs print. Required.
	Now func() time.Time
	// Worker runs nvidia-smi, which tells that a number and a UUID are the
	// same device. Nil means that nothing is asked.
	Worker worker.Worker
}

// Lease is the exclusive use of devices among all jobs of the host that lease
// them from the same folder. The kernel ends it when the process ends, however
// that happens. It is not passed on to children.
type Lease struct {
	// Warnings say how far the lease may fail to keep others away.
	Warnings []string

	files   []*leaseFile
	release sync.Once
}

// Holder is what the present holder of a lease says of itself. It is untrusted
// text, made fit for a message; what is unknown is zero.
type Holder struct {
	PID   int // in the holder's own container
	Name  string
	Job   string
	Since time.Time // in UTC
}

// Held is a device that another job leases.
type Held struct {
	Device bench.Device
	By     Holder
}

// String returns "nvidia:0 is leased by job X of runner-1 (process 123) since
// 2026-01-02 12:03 UTC".
func (h Held) String() string {
	s := clean(h.Device.String()) + " is leased by "
	switch {
	case h.By.Job != "" && h.By.Name != "":
		s += "job " + h.By.Job + " of " + h.By.Name
	case h.By.Job != "":
		s += "job " + h.By.Job
	default:
		s += cmp.Or(h.By.Name, "another job")
	}
	if h.By.PID > 0 {
		s += fmt.Sprintf(" (process %d)", h.By.PID)
	}
	if !h.By.Since.IsZero() {
		s += h.By.Since.Format(" since 2006-01-02 15:04 UTC")
	}
	return s
}

// BusyError means that a device was leased by another job for as long as
// Acquire was to wait.
type BusyError struct{ Held Held }

func (e *BusyError) Error() string {
	return e.Held.String() + ": run again when that job has ended, wait longer, or measure on another device"
}

// Acquire leases all of the devices or none. Jobs that want several take them
// in one order, so that none waits for another in a circle; a device that was
// taken is kept while waiting for the next.
//
// The error is a [*BusyError] where another job kept a device; it wraps the
// cause of ctx where that ended the waiting. The caller must Release the lease
// and keep it until then.
func Acquire(ctx context.Context, o LeaseOptions) (*Lease, error) {
	names, warnings, err := physical(ctx, o.Worker, o.Devices)
	if err != nil {
		return nil, err
	}
	claims, err := claimsOf(o.Dir, o.Devices, names, o.Shared)
	if err != nil {
		return nil, err
	}
	if err := shareFolder(o.Dir); err != nil {
		return nil, err
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.Wait)
	defer cancel()
	lease := &Lease{Warnings: warnings}
	for _, c := range claims {
		file, err := o.wait(ctx, patience, c)
		if err != nil {
			lease.Release()
			return nil, err
		}
		file.write(Holder{PID: os.Getpid(), Name: o.Holder, Job: o.Job, Since: o.Now()})
		lease.files = append(lease.files, file)
	}
	return lease, nil
}

// Release ends the lease. Further calls do nothing, and so does one on nil.
func (l *Lease) Release() {
	if l == nil {
		return
	}
	l.release.Do(func() {
		for _, file := range slices.Backward(l.files) {
			file.release()
		}
	})
}

// claim is a device and the file whose lock is its lease.
type claim struct {
	device bench.Device
	path   string
	shared bool
}

// claimsOf returns the claims in the order in which every job takes them.
func claimsOf(dir string, devices []bench.Device, names []string, shared []bench.Device) ([]claim, error) {
	var claims []claim
	for i, d := range devices {
		claims = append(claims, claim{d, filepath.Join(dir, leaseName(names[i])), false})
	}
	for _, d := range shared {
		claims = append(claims, claim{d, filepath.Join(dir, leaseName(d.String())), true})
	}
	slices.SortStableFunc(claims, func(a, b claim) int { return strings.Compare(a.path, b.path) })
	for i := 1; i < len(claims); i++ {
		if claims[i-1].path == claims[i].path {
			return nil, fmt.Errorf("%s and %s are the same device: name it once",
				text.Quote(claims[i-1].device.String(), 80), text.Quote(claims[i].device.String(), 80))
		}
	}
	return claims, nil
}

// leaseName returns "nvidia-0.lock". What cannot stand in a file name becomes
// "_", and capitals become small, as some file systems take them for the same:
// two devices that thereby share a file wait for each other and nothing worse.
func leaseName(device string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-':
			return r
		case r == ':':
			return '-'
		}
		return '_'
	}, strings.ToLower(device))
	return safe[:min(len(safe), 200)] + ".lock"
}

const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
	// settling is the number of tries for which a file may be closed to us:
	// its maker sets the permissions after making it.
	settling = 6
)

// wait takes one lease. The kernel has no queue with a deadline, so it tries
// again and again. A holder counts as seen when two looks agree: between
// taking a lease and writing its name, the file still holds the last one's.
func (o LeaseOptions) wait(ctx, patience context.Context, c claim) (*leaseFile, error) {
	var told, seen Held
	pause := firstPause
	for try := 0; ; try++ {
		file, holder, err := tryLease(c.path, c.shared)
		if err == nil && file != nil {
			return file, nil
		}
		if err != nil && (try >= settling || !errors.Is(err, fs.ErrPermission)) {
			return nil, fmt.Errorf("lease %s: %w", text.Quote(c.device.String(), 80), err)
		}
		held := Held{c.device, holder}
		if try > 0 && err == nil {
			if patience.Err() != nil {
				return nil, &BusyError{held}
			}
			if held == seen && held != told && o.Waiting != nil {
				o.Waiting(held)
				told = held
			}
		}
		seen = held
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a device, as %s: %w", held, context.Cause(ctx))
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// shareFolder makes the folder of the lease files where it is missing. As in
// /tmp, anybody may add to it, and remove only what is theirs.
func shareFolder(dir string) error {
	if dir == "" {
		return errors.New("no folder for lease files: name one that all jobs of this host share")
	}
	err := os.Mkdir(dir, 0o777)
	if err == nil {
		err = os.Chmod(dir, 0o777|os.ModeSticky) // Mkdir heeds the umask
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
		if info, e := os.Lstat(dir); e != nil || !info.IsDir() {
			err = errors.New("it is not a folder") // a link may be of a hostile user
		}
	}
	if err != nil {
		return fmt.Errorf("folder of lease files %s: %w: choose one that can be made and that all jobs of this host share",
			text.Quote(dir, 80), err)
	}
	return nil
}

// physical returns a name for each device that is the same however a job
// names the device, as far as can be found out. An error means that the worker
// cannot go on, or that an id is wrong.
func physical(ctx context.Context, w worker.Worker, devices []bench.Device) (names, warnings []string, err error) {
	for _, d := range devices {
		names = append(names, d.String())
	}
	for _, v := range vendors {
		if v.physical == nil {
			continue
		}
		more, err := v.physical(ctx, w, devices, names)
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, more...)
	}
	return names, warnings, nil
}
