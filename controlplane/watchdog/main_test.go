package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func newFolder(t *testing.T, marked bool) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "plane")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if marked {
		if err := os.WriteFile(filepath.Join(folder, markerFile), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func exists(folder string) bool {
	_, err := os.Stat(folder)
	return err == nil
}

func TestKillsWhatRemainsAndRemovesTheFolderWhenTheOwnerIsGone(t *testing.T) {
	folder := newFolder(t, true)
	sleep := exec.Command("sleep", "600")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- sleep.Wait() }()
	if err := guard(folder, strings.NewReader("+"+strconv.Itoa(sleep.Process.Pid)+"\n")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || exists(folder) {
		t.Fatalf("the process ended with %v, and the folder exists: %v", err, exists(folder))
	}
}

func TestLeavesEverythingAloneWhenTheOwnerCleanedUp(t *testing.T) {
	folder := newFolder(t, true)
	if err := guard(folder, strings.NewReader("+999999\ndone\n")); err != nil || !exists(folder) {
		t.Fatalf("error %v, folder there: %v", err, exists(folder))
	}
}

func TestRefusesAFolderWithoutTheMarker(t *testing.T) {
	folder := newFolder(t, false)
	if err := guard(folder, strings.NewReader("")); err == nil || !exists(folder) {
		t.Fatalf("error %v, folder there: %v", err, exists(folder))
	}
}

func TestForgetsProcessesThatEnded(t *testing.T) {
	pids, done := follow(strings.NewReader("+12\n+13\n-12\nnonsense\n+1\n"))
	if done || len(pids) != 1 || !pids[13] {
		t.Fatalf("done %v, pids %v", done, pids)
	}
}
