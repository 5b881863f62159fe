package session

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// SystemProcesses asks the kernel by sysctl.
type SystemProcesses struct{}

// Lookup finds a living process.
func (SystemProcesses) Lookup(pid int) (Process, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return Process{}, false
	}
	p := Process{
		PID: pid, Parent: int(info.Eproc.Ppid), Name: unix.ByteSliceToString(info.Proc.P_comm[:]),
		Start: fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec),
	}
	if raw, err := unix.SysctlRaw("kern.procargs2", pid); err == nil {
		p.Args = parseProcArgs(raw)
	}
	return p, true
}

// parseProcArgs reads the count of arguments, the program's path and padding, and then the arguments, each ended by a zero byte.
func parseProcArgs(raw []byte) []string {
	if len(raw) < 4 {
		return nil
	}
	count := binary.LittleEndian.Uint32(raw)
	_, rest, _ := bytes.Cut(raw[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	var args []string
	for range count {
		arg, more, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			break
		}
		args, rest = append(args, string(arg)), more
	}
	return args
}
