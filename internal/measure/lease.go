package measure

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/text"
)

// Lanes are the devices that cells are pinned to, leased for this run.
type Lanes struct {
	Devices []bench.Device // empty: one lane without pinning
	lease   *device.Lease
	placed  map[string]bench.Device // of each cell, by id
}

// Release gives the devices back.
func (l Lanes) Release() { l.lease.Release() }

// For are the devices on which a cell is always measured; the zero value without devices.
func (l Lanes) For(c bench.Cell) bench.Device { return l.placed[c.ID()] }

// defaultLeaseWait bounds the wait for another job's devices.
const defaultLeaseWait = 30 * time.Minute

// Lease takes the devices that the run uses: the given ones, or all
// accelerators of the host, since cells that are not pinned may use any.
func (s *Session) Lease(ctx context.Context) (Lanes, error) {
	p := s.Plan
	devices, err := device.Devices(p.deviceIDs, p.Host, p.environ)
	if err != nil {
		return Lanes{}, exit.AsUsage(fmt.Errorf("devices: %w", err))
	}
	if err := p.checkGroups(devices); err != nil {
		return Lanes{}, err
	}
	l := Lanes{Devices: devices}
	moved := 0
	if l.placed, moved, err = p.assignCells(devices); err != nil {
		return Lanes{}, err
	}
	leased := devices
	if len(leased) == 0 && p.job == nil {
		leased = device.Leasable(p.Host)
	}
	if len(leased) == 0 || p.size() == 0 {
		return l, nil
	}
	wait := defaultLeaseWait
	if p.File.Limits.Lease != nil {
		wait = *p.File.Limits.Lease
	}
	l.lease, err = device.Acquire(ctx, device.LeaseOptions{
		Dir: s.leaseDir(), Devices: leased, Shared: device.Parents(leased, p.Host), Wait: wait, Job: s.job(), Now: s.Now,
		Waiting: func(h device.Held) { fmt.Fprintf(s.Stderr, "accelgate: waiting up to %v: %s\n", wait, h) },
		Holder:  s.Getenv("RUNNER_NAME"), Worker: s.worker,
	})
	if err != nil {
		return l, err
	}
	used, err := device.Busy(ctx, s.worker, leased)
	warnings := slices.Concat(l.lease.Warnings, used)
	if profiles := device.Profiles(p.Host); len(devices) == 0 && len(profiles) > 0 {
		warnings = append(warnings,
			fmt.Sprintf("this host has MIG slices of %s, and cells are not pinned to one: write host.devices: [mig]",
				strings.Join(profiles, ", ")))
	}
	if moved > 0 {
		warnings = append(warnings, fmt.Sprintf(
			"%s moved to other devices than those of the last run, because all end sooner so: compare small changes in pairs (--ab)",
			text.Plural(moved, "cell")))
	}
	s.warnings = append(s.warnings, warnings...)
	s.WarnAll(warnings)
	if err != nil {
		l.Release()
	}
	return l, err
}

// DeviceIDs are those of the flag, the environment, the job or the configuration.
func (e *Env) DeviceIDs(c *Config) []string {
	if len(c.Options.Devices) > 0 {
		return c.Options.Devices
	}
	if ids := e.Getenv("ACCELGATE_DEVICES"); ids != "" {
		return strings.Split(ids, ",")
	}
	if c.job != nil {
		return c.allotted
	}
	return c.File.Host.Devices
}

// leaseDir is a folder that all jobs of a host share, whoever they run as.
func (e *Env) leaseDir() string {
	if dir := e.Getenv("ACCELGATE_LEASES"); dir != "" {
		return dir
	}
	if info, err := os.Stat("/run/lock"); err == nil && info.IsDir() {
		return "/run/lock/accelgate"
	}
	if data := e.Getenv("ProgramData"); runtime.GOOS == "windows" && data != "" {
		return filepath.Join(data, "accelgate-leases")
	}
	return "/tmp/accelgate-leases"
}

// job names what holds a lease, for those who wait for it.
func (e *Env) job() string {
	if id := e.Getenv("GITHUB_RUN_ID"); id != "" {
		return fmt.Sprintf("%s/%s/actions/runs/%s %s", e.Getenv("GITHUB_SERVER_URL"), e.Getenv("GITHUB_REPOSITORY"), id,
			e.Getenv("GITHUB_JOB"))
	}
	return "accelgate run"
}
