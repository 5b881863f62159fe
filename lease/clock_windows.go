package lease

import (
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// timeOfDay is the system's SYSTEM_TIMEOFDAY_INFORMATION.
type timeOfDay struct {
	BootTime, CurrentTime, TimeZoneBias int64
	TimeZoneID, Reserved                uint32
	BootTimeBias, SleepTimeBias         uint64
}

// bootID is the time at which the kernel was started, without the corrections of the wall clock since, which the system adds to it.
func bootID() string {
	var info timeOfDay
	err := windows.NtQuerySystemInformation(windows.SystemTimeOfDayInformation, unsafe.Pointer(&info), uint32(unsafe.Sizeof(info)), nil)
	if err != nil || info.BootTime == 0 {
		return ""
	}
	return strconv.FormatInt(info.BootTime-int64(info.BootTimeBias), 16)
}

// sinceBoot reads GetTickCount64, which goes on while the machine sleeps.
func sinceBoot() (time.Duration, error) { return windows.DurationSinceBoot(), nil }
