package child

import (
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// system is what a job is on this kind of system: a process group of the console, for requests to end, and a job object, to end all of it.
type system struct {
	cmd    *exec.Cmd
	object windows.Handle
	exited chan struct{}
}

// asking are the signals that ask a process to end.
func asking() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func (j *Job) start() error {
	j.cmd = exec.Command(j.command.Args[0], j.command.Args[1:]...) //nolint:gosec,noctx // the user's own command, which is ended by the job object
	j.cmd.Env, j.cmd.Dir = j.command.Env, j.command.Dir
	j.cmd.Stdin, j.cmd.Stdout, j.cmd.Stderr = j.command.streams()
	j.cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	if err := j.cmd.Start(); err != nil {
		return startError(j.command.Args[0], j.cmd.Path, err)
	}
	j.object = gather(j.cmd.Process.Pid)
	j.exited = make(chan struct{})
	go func() {
		defer close(j.exited)
		_ = j.cmd.Wait() // its status tells
	}()
	return nil
}

// gather puts a process and all that it starts from now on into a job object; 0 where that can't be had.
func gather(pid int) windows.Handle {
	object, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(object, process)
		_ = windows.CloseHandle(process) // it was only named
	}
	if err != nil {
		_ = windows.CloseHandle(object) // it is empty
		return 0
	}
	return object
}

// run follows the command to its end.
func (j *Job) run() {
	defer close(j.done)
	defer windows.CloseHandle(j.object) //nolint:errcheck // nothing is lost
	ending := false
	for left := true; left; {
		select {
		case <-j.exited:
			left = false
		case sig := <-j.signals.caught:
			j.pass(sig)
		case <-j.terminate:
			ending = true
			j.ask()
		case <-j.kill:
			j.destroy()
		}
	}
	j.status = Status{Code: j.cmd.ProcessState.ExitCode()}
	if ending {
		j.outlive()
	}
}

// outlive waits until nothing is left of what was told to end.
func (j *Job) outlive() {
	for j.members() > 0 {
		select {
		case <-j.kill:
			j.destroy()
			return
		case sig := <-j.signals.caught:
			j.pass(sig)
		case <-time.After(survey):
		}
	}
}

// accounting is the system's JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	UserTime, KernelTime, PeriodUserTime, PeriodKernelTime int64
	PageFaults, Processes, Active, Terminated              uint32
}

// members is how many processes of the job there are.
func (j *Job) members() uint32 {
	var a accounting
	err := windows.QueryInformationJobObject(j.object, windows.JobObjectBasicAccountingInformation, uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	if err != nil {
		return 0
	}
	return a.Active
}

// pass passes on a request to end. Who asks a second time means it.
func (j *Job) pass(sig os.Signal) {
	again := j.signals.seen(sig)
	switch {
	case !j.signals.fresh(sig):
	case again:
		j.destroy()
	default:
		j.ask()
	}
}

// ask asks the console's process group to end.
func (j *Job) ask() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(j.cmd.Process.Pid)) // without a console there is nothing to ask with
}

// destroy ends all of the job.
func (j *Job) destroy() {
	if j.object == 0 || windows.TerminateJobObject(j.object, 1) != nil {
		_ = j.cmd.Process.Kill() // it may have ended just now
	}
}
