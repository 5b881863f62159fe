package session

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// The log of pushes has a line for each, the second in which it was sent, in decimal. It is there to be counted by people, so that whatever is
// wrong with it is passed over, and nothing is done to let it survive a loss of power.
const (
	// keptPushes is how far back they are kept when the log is compacted, and crowdedPushes the size, in bytes, from which on that is done.
	keptPushes    = time.Hour
	crowdedPushes = 64 << 10
)

// Renewals is the folder in which the keepers of this clone leave what they want to push to the same place. It need not exist.
func (s *State) Renewals() string { return s.path("renewals", hashName(s.o.Where)) }

// CountPush remembers that a request to change refs was sent at the given time. It never fails: what can't be written is not counted.
func (s *State) CountPush(at time.Time) {
	if makeDir(s.dir) != nil {
		return
	}
	f, err := os.OpenFile(s.path("pushes"), os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow, fileMode)
	if err != nil {
		return
	}
	_, err = f.Write(append(strconv.AppendInt(nil, at.Unix(), 10), '\n'))
	info, serr := f.Stat()
	crowded := err == nil && serr == nil && info.Size() > crowdedPushes
	if f.Close() == nil && crowded {
		_ = s.compactPushes(at)
	}
}

// compactPushes drops the old ones. One that is counted meanwhile may be lost.
func (s *State) compactPushes(now time.Time) error {
	return withLock(s.path("pushes.lock"), func() error {
		times, err := s.readPushes()
		if err != nil {
			return err
		}
		var kept []byte
		for _, at := range times[max(0, len(times)-crowdedPushes/32):] {
			if at > now.Add(-keptPushes).Unix() {
				kept = append(strconv.AppendInt(kept, at, 10), '\n')
			}
		}
		return writeFile(s.path("pushes"), kept, fleeting)
	})
}

// Pushes is how many requests to change refs the processes of this clone have sent in the given time before now, an hour at most.
func (s *State) Pushes(now time.Time, span time.Duration) (n int, err error) {
	times, err := s.readPushes()
	for _, at := range times {
		if at > now.Add(-span).Unix() && at <= now.Unix() {
			n++
		}
	}
	return n, err
}

func (s *State) readPushes() ([]int64, error) {
	data, err := readFile(s.path("pushes"), open)
	if absent(err) {
		return nil, nil
	}
	var times []int64
	for line := range bytes.Lines(data) {
		if at, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64); err == nil {
			times = append(times, at)
		}
	}
	return times, err
}
