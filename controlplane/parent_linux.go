package main

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

var parentAtStart = os.Getppid()

// The kernel keeps the parent-death signal with the thread that asked for it: keep main on the main thread, which
// lives as long as the process, until it has asked.
func init() { runtime.LockOSThread() }

// signalOnParentDeath has the kernel kill this process when its parent dies, also while it is stopped or has closed
// standard input.
func signalOnParentDeath() {
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return // the end of standard input still tells
	}
	// The parent may have died before the request was made.
	if os.Getppid() != parentAtStart {
		os.Exit(1)
	}
}
