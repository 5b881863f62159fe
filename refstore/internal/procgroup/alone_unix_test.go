//go:build unix

package procgroup

import (
	"io"
	"os/exec"
	"testing"
)

// TestKillEndsAll: a shell is killed together with what it started, which otherwise would hold the pipe open.
func TestKillEndsAll(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 1000 & echo; wait")
	if !Alone(cmd) {
		t.Fatal("not alone")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := Kill(cmd); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(out); len(rest) > 0 || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
}
