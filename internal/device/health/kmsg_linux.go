package health

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// kernelLog is the kernel's log from some moment on.
type kernelLog struct{ file *os.File }

// openKernelLog starts to listen to /dev/kmsg (Documentation/ABI/testing/dev-kmsg),
// which usually only root may read. Without it nothing is heard.
func openKernelLog(root string) kernelLog {
	f, err := os.OpenFile(filepath.Join(root, "dev/kmsg"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return kernelLog{}
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		_ = f.Close()
		return kernelLog{}
	}
	return kernelLog{f}
}

const maxRecords = 10_000 // of the log, during a span

// rest returns what was written since, and ends listening.
func (l kernelLog) rest() (log []byte) {
	if l.file == nil {
		return nil
	}
	defer l.file.Close()
	raw, err := l.file.SyscallConn()
	if err != nil {
		return nil
	}
	record := make([]byte, 8<<10) // a read yields one, of at most this size
	_ = raw.Read(func(fd uintptr) bool {
		for range maxRecords {
			n, err := syscall.Read(int(fd), record)
			if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EINTR) {
				continue // records were lost before they could be read
			}
			if n <= 0 || err != nil {
				break
			}
			log = append(log, record[:n]...)
		}
		return true
	})
	return log
}
