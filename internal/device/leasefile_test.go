package device

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

// A lock on a removed file locks nothing.
func TestCurrentNoticesThatTheFileWasReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "nvidia-0.lock")
	file, _, err := tryLease(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer file.release()
	if !current(path, file.lock, file.text) {
		t.Error("a file that is still there counts as replaced")
	}
	if err := os.Remove(path); err != nil {
		t.Skip(err) // Windows keeps open files
	}
	if current(path, file.lock, file.text) {
		t.Error("the lock of a removed file counts")
	}
	next, _, err := tryLease(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer next.release()
	if current(path, file.lock, file.text) || !current(path, next.lock, next.text) || current(path, next.lock, file.text) {
		t.Error("the lock of a replaced file counts")
	}
}

// Whatever stands in a lease file, what is shown of it is bounded and
// printable, and what was read can be written and read again.
func FuzzReadHolder(f *testing.F) {
	f.Add([]byte("\n" + `{"pid": 123, "holder": "runner-1", "job": "42/measure", "since": "2026-01-02T12:03:00Z"}` + "\n"))
	f.Add([]byte("\x00" + `{"pid": 1e99, "since": "9999-12-31T23:59:59-23:00"}`))
	f.Add([]byte("\n" + `{"PID": -1, "job": "##[error]\u202e\u0000"}`))
	f.Add([]byte("\n{}{}"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, text []byte) {
		h := readHolder(bytes.NewReader(text))
		if h.PID < 0 || h.PID > 1<<31-1 || !h.Since.IsZero() && (h.Since.Year() < 1999 || h.Since.Year() > 10000) {
			t.Errorf("holder %+v", h)
		}
		checkText(t, h.Name, maxText)
		checkText(t, h.Job, maxText)
		checkText(t, Held{bench.Device{Vendor: NVIDIA, ID: "0"}, h}.String(), 2*maxText+100)
		if year := h.Since.Year(); year < 2000 || year > 9999 {
			return
		}
		doc, err := json.Marshal(leaseText{h.PID, h.Name, h.Job, h.Since.Format(time.RFC3339)})
		if again := parseHolder(doc); err != nil || len(doc) >= maxLease ||
			again != (Holder{h.PID, h.Name, h.Job, h.Since.Truncate(time.Second)}) {
			t.Errorf("%+v reads back as %+v, error %v", h, again, err)
		}
	})
}

func FuzzNVIDIAProcesses(f *testing.F) {
	f.Add([]byte("4242, 3072, GPU-11aaaaaa-0000\n17, [N/A], GPU-22bbbbbb-0000\n"), []byte("0, GPU-11aaaaaa-0000\n1, GPU-22bbbbbb-0000\n"))
	f.Add([]byte("No running processes found\n-1, NaN, GPU-1111\n1,1e300,GPU-1111\r\n"), []byte("0,GPU-1111\r\n999,GPU-1111"))
	f.Fuzz(func(t *testing.T, apps, list []byte) {
		known := parseUUIDs(list)
		if len(known) > maxDevices {
			t.Errorf("%d devices", len(known))
		}
		running := parseProcesses(apps)
		for _, p := range running {
			if p.pid <= 0 || !(p.mib >= 0) || !IsUUID(p.uuid) {
				t.Errorf("process %+v", p)
			}
		}
		warnings := busy(running, known, nil)
		if len(warnings) > len(known) {
			t.Errorf("%d warnings for %d devices", len(warnings), len(known))
		}
		for _, w := range warnings {
			checkText(t, w, 3*maxText)
		}
	})
}
