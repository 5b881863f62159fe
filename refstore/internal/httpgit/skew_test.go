package httpgit

import (
	"net/http"
	"testing"
	"time"
)

// reply is a git server's, received some time after epoch by our clock, after a trip.
type reply struct {
	at, trip time.Duration
	date     time.Duration
	status   int
	kind     string
	age      string
}

func (r reply) observe(t *transport) {
	wrote, first := when.Add(r.at-r.trip), when.Add(r.at)
	w := &watch{}
	w.wrote.Store(&wrote)
	w.first.Store(&first)
	c := post(uploadPack, nil)
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{
		"Date": {when.Add(r.date).Format(http.TimeFormat)}, "Content-Type": {c.answer},
	}}
	if r.status != 0 {
		resp.StatusCode = r.status
	}
	if r.kind != "" {
		resp.Header.Set("Content-Type", r.kind)
	}
	if r.age != "" {
		resp.Header.Set("Age", r.age)
	}
	t.observe(w, &c, resp)
}

// TestSkewIsTheGitServers: the Date of a proxy's own page, of an answer out of a cache, and of one that took too long to tell says nothing.
func TestSkewIsTheGitServers(t *testing.T) {
	for name, r := range map[string]reply{
		"a gateway's error": {status: http.StatusBadGateway, date: time.Hour},
		"a sign-in page":    {kind: "text/html", date: time.Hour},
		"from a cache":      {age: "3600", date: -time.Hour},
		"too slow":          {trip: time.Minute, date: time.Hour},
	} {
		tr := &transport{}
		r.observe(tr)
		if offset, known := tr.Skew(); known {
			t.Errorf("%s: %v", name, offset)
		}
	}
}

// TestSkewAfterTheClockWasSet: our clock is set right between two replies, of which the first was the quicker.
func TestSkewAfterTheClockWasSet(t *testing.T) {
	tr := &transport{}
	reply{trip: 10 * time.Millisecond, date: 10 * time.Minute}.observe(tr)
	reply{at: 11 * time.Minute, trip: 20 * time.Millisecond, date: 11 * time.Minute}.observe(tr)
	if offset, known := tr.Skew(); !known || offset.Abs() > 2*time.Second {
		t.Errorf("skew %v, %v", offset, known)
	}
}

// TestSkewOfTheQuickest: of replies that agree, the one counts that took the shortest time.
func TestSkewOfTheQuickest(t *testing.T) {
	tr := &transport{}
	reply{trip: 2 * time.Second, date: 61 * time.Second}.observe(tr)
	reply{trip: 4 * time.Second, date: 60 * time.Second}.observe(tr)
	if offset, known := tr.Skew(); !known || offset != 62*time.Second+500*time.Millisecond {
		t.Errorf("skew %v, %v", offset, known)
	}
}
