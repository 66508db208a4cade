package worker

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// TestEndStaleEndsWhatADeadOwnerLeft: processes show whose they are, and those
// of a living accelgate, of another host and of another namespace are left
// alone.
func TestEndStaleEndsWhatADeadOwnerLeft(t *testing.T) {
	here := thisOwner()
	if here == (owner{}) {
		t.Skip("this system does not name processes")
	}
	dead, reborn, elsewhere, namespace := here, here, here, here
	dead.pid = 1 << 22 // the most that Linux gives, plus one
	reborn.started++
	elsewhere.boot, elsewhere.pid = "another", dead.pid
	namespace.namespace, namespace.pid = "pid:[1]", dead.pid
	for cookie, want := range map[string]bool{
		dead.String() + "/X":                         true,
		reborn.String() + "/X":                       true,
		here.String() + "/Y." + dead.String() + "/X": true,
		here.String() + "/X":                         false,
		elsewhere.String() + "/X":                    false,
		namespace.String() + "/X":                    false,
		"X":                                          false, "": false, "/": false, "a/b/c/d/e": false,
	} {
		cmd := exec.Command("sleep", "60")
		cmd.Env = append(os.Environ(), Cell+"="+cookie)
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		EndStale()
		if want { // it has been killed, or Wait would hang
			if err := cmd.Wait(); fmt.Sprint(err) != "signal: killed" {
				t.Errorf("%q: %v, want it killed", cookie, err)
			}
			continue
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Errorf("%q was ended: %v", cookie, err)
		}
		if err := cmd.Wait(); fmt.Sprint(err) != "signal: interrupt" {
			t.Errorf("%q: %v, want it left alone", cookie, err)
		}
	}
}

func FuzzStale(f *testing.F) {
	f.Add("A=1\x00" + Cell + "=a/b/1/2/X.Y\x00")
	f.Fuzz(func(t *testing.T, environ string) {
		if stale(environ, func(owner) bool { return false }) {
			t.Error("an owner that lives has left something")
		}
		stale(environ, func(owner) bool { return true })
	})
}
