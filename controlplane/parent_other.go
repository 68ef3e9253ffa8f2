//go:build !linux

package main

// signalOnParentDeath does nothing where the kernel has no parent-death signal: the end of standard input tells.
func signalOnParentDeath() {}
