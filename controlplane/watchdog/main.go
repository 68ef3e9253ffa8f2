// Command watchdog removes a control plane's folder once the process that owns it has died without doing so itself.
//
//	watchdog FOLDER
//
// The owner holds the other end of standard input, on which it tells, one a line, the processes that it starts
// ("+PID"), those that have ended ("-PID"), and "done" when it has cleaned up itself. When the stream ends before
// "done", the processes that remain are killed and the folder is removed. The owner's death ends the stream, however
// it dies.
//
// It is a program of its own, because the control plane's takes fifty megabytes before its first line runs.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// markerFile must be in the folder, so that a wrong argument removes nothing.
	markerFile = ".culvert-controlplane"
	// patience is how long killed processes are waited for, and how long removing is tried again.
	patience = 5 * time.Second
	pause    = 20 * time.Millisecond
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: watchdog FOLDER")
		os.Exit(2)
	}
	if err := guard(os.Args[1], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func guard(folder string, commands io.Reader) error {
	if _, err := os.Stat(filepath.Join(folder, markerFile)); err != nil {
		return fmt.Errorf("not a control plane's folder: %w", err)
	}
	pids, done := follow(commands)
	if done {
		return nil
	}
	for pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // gone already is what is wanted
	}
	deadline := time.Now().Add(patience)
	waitUntilGone(pids, deadline)
	return remove(folder, deadline.Add(patience))
}

// follow reads the owner's commands until "done" or the end of the stream and returns the processes that remain.
func follow(commands io.Reader) (pids map[int]bool, done bool) {
	pids = map[int]bool{}
	lines := bufio.NewScanner(commands)
	for lines.Scan() {
		line := lines.Text()
		if line == "done" {
			return pids, true
		}
		pid, err := strconv.Atoi(strings.TrimLeft(line, "+-"))
		if err != nil || pid <= 1 {
			continue
		}
		if strings.HasPrefix(line, "-") {
			delete(pids, pid)
		} else {
			pids[pid] = true
		}
	}
	return pids, false
}

// waitUntilGone gives up at the deadline: where nothing reaps orphans, an ended process never disappears.
func waitUntilGone(pids map[int]bool, deadline time.Time) {
	for pid := range pids {
		for time.Now().Before(deadline) && syscall.Kill(pid, 0) == nil {
			time.Sleep(pause)
		}
	}
}

// remove tries again while a process that is just ending still writes into the folder.
func remove(folder string, deadline time.Time) error {
	for {
		err := os.RemoveAll(folder)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(pause)
	}
}
