package worker

import "syscall"

// dieWithParent has the kernel kill the child when this process is killed and
// cannot do it: a child that runs on would keep its device from the next job.
// Its own children are not reached.
//
// The kernel acts when the thread that started the child ends. Go ends a thread
// only when a goroutine exits that has locked it, which nothing here does.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
