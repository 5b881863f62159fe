package term

import (
	"fmt"
	"strings"
	"time"
)

// Span is a length of time for people: "45 s", "12 min", "1 h 59 min", "3 d 4 h". Negative lengths are shown as positive ones.
func Span(d time.Duration) string {
	d = d.Abs().Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return pair(d, time.Minute, "min", 0, "")
	case d < 24*time.Hour:
		return pair(d, time.Hour, "h", time.Minute, "min")
	default:
		return pair(d, 24*time.Hour, "d", time.Hour, "h")
	}
}

// pair writes d in a unit, and what is left of it in a smaller one.
func pair(d, unit time.Duration, name string, small time.Duration, smallName string) string {
	whole := fmt.Sprintf("%d %s", d/unit, name)
	if small == 0 {
		return whole
	}
	if rest := d % unit / small; rest > 0 {
		return fmt.Sprintf("%s %d %s", whole, rest, smallName)
	}
	return whole
}

// Clock is a point in time for people who live in zone, seen from now: the time of day, with the date where it isn't today's.
func Clock(t, now time.Time, zone *time.Location) string {
	t, now = t.In(zone), now.In(zone)
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// Length is a length of time as settings are written, without the units of which there are none: "2h", "1h30m", "10s".
func Length(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
