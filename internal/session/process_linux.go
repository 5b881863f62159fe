package session

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// SystemProcesses reads /proc.
type SystemProcesses struct{}

// Lookup finds a living process.
func (SystemProcesses) Lookup(pid int) (Process, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat") //nolint:gosec // a number
	if err != nil {
		return Process{}, false
	}
	p, ok := parseStat(string(stat))
	if !ok {
		return Process{}, false
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	p.Start = strings.TrimSpace(string(boot)) + "/" + p.Start
	if line, err := os.ReadFile(dir + "/cmdline"); err == nil { //nolint:gosec // a number
		p.Args = splitZero(line)
	}
	return p, true
}

// The fields of /proc/PID/stat after the name, which stands in parentheses and may hold anything.
const (
	statState  = 0
	statParent = 1
	statStart  = 19
)

func parseStat(stat string) (Process, bool) {
	before, after := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if before < 1 || after < before {
		return Process{}, false
	}
	fields := strings.Fields(stat[after+1:])
	if len(fields) <= statStart || fields[statState] == "Z" || fields[statState] == "X" {
		return Process{}, false
	}
	pid, err1 := strconv.Atoi(strings.TrimSpace(stat[:before]))
	parent, err2 := strconv.Atoi(fields[statParent])
	return Process{PID: pid, Parent: parent, Start: fields[statStart], Name: stat[before+1 : after]}, err1 == nil && err2 == nil
}

func splitZero(b []byte) []string {
	var parts []string
	for part := range bytes.SplitSeq(bytes.TrimSuffix(b, []byte{0}), []byte{0}) {
		parts = append(parts, string(part))
	}
	return parts
}
