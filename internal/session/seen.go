package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/git-worklease/git-worklease/lease"
)

// Seen is what was seen last of each resource; those never seen are left out.
func (s *State) Seen(resources ...lease.Resource) (map[lease.Resource]lease.Sighting, error) {
	l, err := s.readLog()
	if err != nil {
		return nil, err
	}
	return l.find(resources)
}

// See merges sightings into the log: a line for each that tells something new.
func (s *State) See(sightings ...lease.Sighting) error {
	if err := makeDir(s.dir); err != nil {
		return err
	}
	return withLock(s.path("seen.lock"), func() error {
		l, err := s.readLog()
		if err != nil {
			return err
		}
		lines, err := l.news(sightings)
		switch {
		case err != nil || len(lines) == 0:
			return err
		case l.crowded(len(lines)):
			return s.compact(l, lines)
		default:
			return s.appendLog(l, lines)
		}
	})
}

func (s *State) readLog() (*seenLog, error) {
	data, err := readFile(s.path("seen"), open)
	if absent(err) {
		return &seenLog{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseLog(s.path("seen"), data)
}

// news are the lines for what sightings add to the log.
func (l *seenLog) news(sightings []lease.Sighting) ([]byte, error) {
	resources := make([]lease.Resource, len(sightings))
	for i := range sightings {
		resources[i] = sightings[i].Resource
	}
	known, err := l.find(resources)
	if err != nil {
		return nil, err
	}
	var lines []byte
	for _, next := range sightings {
		was, ok := known[next.Resource]
		if ok {
			next = was.Merge(next)
		}
		if ok && next == was {
			continue
		}
		if lines, err = appendSighting(lines, next); err != nil {
			return nil, err
		}
		known[next.Resource] = next
	}
	return lines, nil
}

// appendLog adds lines. A line that a killed writer left unfinished is cut off first; so is what a full disk leaves of ours.
func (s *State) appendLog(l *seenLog, lines []byte) error {
	path := s.path("seen")
	f, err := openRegular(path, os.O_WRONLY, open)
	if err != nil {
		return err
	}
	end := int64(l.size)
	if l.torn {
		err = f.Truncate(end)
	}
	if err != nil {
		return errors.Join(writeError(path, err), f.Close())
	}
	if _, err := f.WriteAt(lines, end); err != nil {
		return errors.Join(writeError(path, err), f.Truncate(end), f.Close())
	}
	return writeError(path, f.Close())
}

// maxSeen bounds a compacted log, so that it can be read again however much is added before it is compacted the next time. What remotes show
// may be made up, and must not stop the clone from working.
const maxSeen = maxFile/2 - crowding

// compact writes the log anew, with one line for each resource. It must not come back empty after a loss of power.
func (s *State) compact(l *seenLog, lines []byte) error {
	body := lastLines(slices.Concat(l.body, lines))
	if len(body) > maxSeen {
		return &StateError{s.path("seen"), fmt.Errorf("%d bytes of sightings, of at most %d", len(body), maxSeen)}
	}
	return writeFile(s.path("seen"), slices.Concat(logHeader(len(body)), body), whole)
}

// lastLines keeps the last line of each resource.
func lastLines(body []byte) []byte {
	lines := bytes.SplitAfter(body, []byte("\n"))
	last := make(map[string]int, len(lines))
	for i, line := range lines {
		last[string(resourceOf(line))] = i
	}
	kept := make([]byte, 0, len(body))
	for i, line := range lines {
		if last[string(resourceOf(line))] == i {
			kept = append(kept, line...)
		}
	}
	return kept
}

// SeenAll is what was seen last of every resource, in no order.
func (s *State) SeenAll() ([]lease.Sighting, error) {
	l, err := s.readLog()
	if err != nil {
		return nil, err
	}
	var all []lease.Sighting
	for line := range bytes.Lines(lastLines(l.body)) {
		sighting, err := parseSighting(string(bytes.TrimSuffix(line, []byte("\n"))))
		if err != nil {
			return nil, &StateError{l.path, err}
		}
		all = append(all, sighting)
	}
	return all, nil
}
