package session

import (
	"errors"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// SystemProcesses takes a snapshot of the system's processes. Command lines are not read, so that every shell is passed over.
type SystemProcesses struct{}

// Lookup finds a living process.
func (SystemProcesses) Lookup(pid int) (Process, bool) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return Process{}, false
	}
	defer windows.CloseHandle(snapshot) //nolint:errcheck // only read
	entry := windows.ProcessEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		if int(entry.ProcessID) == pid {
			start, err := startOf(entry.ProcessID)
			name := windows.UTF16ToString(entry.ExeFile[:])
			return Process{PID: pid, Parent: int(entry.ParentProcessID), Name: name, Start: start}, err == nil
		}
	}
	return Process{}, false
}

func startOf(pid uint32) (string, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return "", err
	}
	var created, exited, kernel, user windows.Filetime
	err = windows.GetProcessTimes(h, &created, &exited, &kernel, &user)
	return strconv.FormatInt(created.Nanoseconds(), 16), errors.Join(err, windows.CloseHandle(h))
}
