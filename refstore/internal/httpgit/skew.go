package httpgit

import (
	"net/http"
	"time"
)

// skew is the server's clock minus ours, as the quickest reply shows it.
type skew struct {
	offset time.Duration
	trip   time.Duration
	known  bool
}

// maxTrip bounds how long a reply may take that tells the time: its Date may be of any moment in between.
const maxTrip = 10 * time.Second

// contradicts says whether two measurements are further apart than their trips explain: then one of the clocks was set in between.
func (s skew) contradicts(o skew) bool {
	return (s.offset - o.offset).Abs() > time.Second+(s.trip+o.trip)/2
}

// observe compares the Date of a git server's own fresh reply with our clock in the middle of the round trip. Date is cut to the second.
func (t *transport) observe(w *watch, c *call, resp *http.Response) {
	wrote, first := w.wrote.Load(), w.first.Load()
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || wrote == nil || first == nil || first.Before(*wrote) || !c.answeredBy(resp) || isCached(resp) {
		return
	}
	trip := first.Sub(*wrote)
	now := skew{offset: date.Add(time.Second / 2).Sub(wrote.Add(trip / 2)), trip: trip, known: true}
	t.mu.Lock()
	defer t.mu.Unlock()
	if trip <= maxTrip && (!t.skew.known || trip < t.skew.trip || now.contradicts(t.skew)) {
		t.skew = now
	}
}

// isCached says whether a reply came out of a cache, with the Date of when it went in.
func isCached(resp *http.Response) bool {
	age := resp.Header.Get("Age")
	return age != "" && age != "0"
}
