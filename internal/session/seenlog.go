package session

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
)

// The log of sightings is text: a header, then a line for each sighting, of which the last of a resource holds. A line has
// these fields, parted by tabs:
//
//	generation revision tip free first.since first.boot first_date resource
//
// The resource comes last, so that one of thousands is found without reading the others' numbers. A last line without its
// newline was being written when its writer was killed, and doesn't count.

const (
	logMagic   = "git-worklease seen "
	seenFields = 8
	// crowding: a log may grow by as much as it had when it was compacted, and this many bytes more.
	crowding = 64 << 10
)

// seenLog is the log as it was read.
type seenLog struct {
	path string
	// body holds the lines after the header, each with its newline.
	body []byte
	// size is the length of the file up to the end of body; 0 where there is no file.
	size int
	// torn says that more follows, without a newline.
	torn bool
	// base is the length of the body when the log was last compacted.
	base int
}

var errLog = errors.New("not a log of sightings")

func logHeader(base int) []byte { return fmt.Appendf(nil, "%s%d %d\n", logMagic, version, base) }

func parseLog(path string, data []byte) (*seenLog, error) {
	header, rest, ok := bytes.Cut(data, []byte("\n"))
	fields := strings.Fields(strings.TrimPrefix(string(header), logMagic))
	if !ok || !bytes.HasPrefix(header, []byte(logMagic)) || len(fields) == 0 {
		return nil, &StateError{path, errLog}
	}
	v, err := strconv.Atoi(fields[0])
	if err == nil && v > version {
		return nil, &NewerError{path, v}
	}
	if err != nil || v != version || len(fields) != 2 {
		return nil, &StateError{path, errLog}
	}
	base, err := strconv.ParseUint(fields[1], 10, 31)
	if err != nil {
		return nil, &StateError{path, errLog}
	}
	body := rest[:bytes.LastIndexByte(rest, '\n')+1]
	return &seenLog{
		path: path, body: body, size: len(header) + 1 + len(body), torn: len(body) < len(rest),
		base: int(base), //nolint:gosec // 31 bits
	}, nil
}

// crowded says whether the log must be written anew rather than grow by more bytes. A log that isn't there must.
func (l *seenLog) crowded(more int) bool { return l.size == 0 || len(l.body)+more > 2*l.base+crowding }

// find reads the last line of each resource.
func (l *seenLog) find(resources []lease.Resource) (map[lease.Resource]lease.Sighting, error) {
	lines := make(map[lease.Resource][]byte, len(resources))
	for _, r := range resources {
		lines[r] = nil
	}
	for rest := l.body; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if r := resourceOf(line); len(r) == 0 {
			return nil, &StateError{l.path, fmt.Errorf("%w: %q", errLog, line)}
		} else if _, wanted := lines[lease.Resource(r)]; wanted { // no copy is made for the look-up
			lines[lease.Resource(r)] = line
		}
	}
	found := make(map[lease.Resource]lease.Sighting, len(lines))
	for r, line := range lines {
		if line == nil {
			continue
		}
		s, err := parseSighting(string(line))
		if err != nil {
			return nil, &StateError{l.path, err}
		}
		found[r] = s
	}
	return found, nil
}

func resourceOf(line []byte) []byte { return line[bytes.LastIndexByte(line, '\t')+1:] }

func appendSighting(b []byte, s lease.Sighting) ([]byte, error) {
	for _, text := range []string{string(s.Resource), string(s.Tip), s.First.Boot} {
		if strings.ContainsAny(text, "\t\n") {
			return nil, fmt.Errorf("sighting of %q: %q has a tab or newline", s.Resource, text)
		}
	}
	if s.Resource == "" {
		return nil, errors.New("sighting of no resource")
	}
	date := ""
	if !s.FirstDate.IsZero() {
		date = s.FirstDate.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Appendf(b, "%d\t%d\t%s\t%t\t%d\t%s\t%s\t%s\n",
		s.Generation, s.Revision, s.Tip, s.Free, int64(s.First.Since), s.First.Boot, date, s.Resource), nil
}

func parseSighting(line string) (lease.Sighting, error) {
	f := strings.Split(line, "\t")
	if len(f) != seenFields {
		return lease.Sighting{}, fmt.Errorf("%w: %q", errLog, line)
	}
	generation, err1 := strconv.ParseUint(f[0], 10, 64)
	revision, err2 := strconv.ParseUint(f[1], 10, 64)
	free, err3 := strconv.ParseBool(f[3])
	since, err4 := strconv.ParseInt(f[4], 10, 64)
	var date time.Time
	var err5 error
	if f[6] != "" {
		date, err5 = time.Parse(time.RFC3339Nano, f[6])
	}
	if year := date.UTC().Year(); year < 0 || year > 9999 { // which could not be written again
		err5 = fmt.Errorf("the year %d", year)
	}
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return lease.Sighting{}, fmt.Errorf("%w: %q: %w", errLog, line, err)
	}
	return lease.Sighting{
		Resource: lease.Resource(f[7]), Generation: lease.Generation(generation), Revision: revision,
		Tip: refstore.OID(f[2]), Free: free, First: lease.Instant{Boot: f[5], Since: time.Duration(since)}, FirstDate: date,
	}, nil
}
