package main

import (
	"io"
	"os"
)

// exitAtEndOf ends the process when the stream ends. The caller holds the other end of standard input and never
// writes to it; the kernel closes it when the caller dies, also by SIGKILL, on every platform.
func exitAtEndOf(stream io.Reader) {
	_, _ = io.Copy(io.Discard, stream)
	os.Exit(1)
}
