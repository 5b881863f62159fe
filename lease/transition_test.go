package lease

import (
	"errors"
	"testing"
	"time"
)

// scene is two records of a resource as they stand before and after a step, each of which a test may change.
type scene struct {
	old, next *Record
	at        time.Time
	rules     TransitionRules
}

// newScene is a claim in force, and a step of it an hour before it expires.
func newScene() *scene {
	alice := Holder{Agent: "alice", Session: "a"}
	at := epoch.Add(time.Hour)
	old := &Record{
		Authority: "a1", Resource: demo, Claim: "c1", Members: []Resource{demo}, Holder: alice, Generation: 7, Revision: 3, TTLSeconds: 7200, GraceSeconds: 60,
		Takeover: TakeoverStale, Expiry: ExpiryClock, ClaimedAt: epoch.Add(-time.Hour), RenewedAt: epoch, State: StateActive,
	}
	s := &scene{old: old, at: at, rules: TransitionRules{Authority: "a1", Tip: "01d", Floor: 2, Top: 2}}
	s.renews()
	return s
}

func (s *scene) renews() { s.next = s.old.renewed("01d", s.old.Revision+1, s.at) }

func (s *scene) releases() {
	s.next = s.old.tombstone("01d", s.old.Revision+1, Release{Outcome: OutcomeDone, At: s.at, By: &s.old.Holder})
}

// takes lets bob claim what stands there.
func (s *scene) takes() {
	next := *s.old
	s.next = &next
	next.Claim, next.Holder, next.Generation, next.Revision, next.State, next.Release = "c2", Holder{Agent: "bob", Session: "b"}, 8, 1, StateActive, nil
	next.ClaimedAt, next.RenewedAt, next.Prev, next.Predecessor = s.at, s.at, "01d", s.old.predecessor("stale")
}

// creates makes it the first claim at its ref.
func (s *scene) creates() {
	s.takes()
	s.old, s.next.Prev, s.next.Predecessor, s.next.Generation, s.rules.Tip = nil, "", nil, 3, ""
}

func (s *scene) released() {
	s.releases()
	s.old = s.next
}

// overlaps lets bob end it for a path of his, a grace after it expired.
func (s *scene) overlaps() {
	s.old.Resource, s.old.Members = "path:src/a", []Resource{"path:src/a"}
	s.at = s.old.over()
	s.takes()
	claim := s.next
	claim.Resource, claim.Members = "path:src", []Resource{"path:src"}
	s.releases()
	s.next.Claim, s.next.Release.Reason = "c2", reasonOverlapped
	s.rules.With = []*Record{s.next, claim}
}

func (s *scene) deletes() {
	s.released()
	s.next, s.rules.Proven, s.at = nil, 7, s.at.Add(MinRetention)
}

// stepCases are changes to a step that is valid, each with the breach that it is; "" where it stays valid.
type stepCases map[string]struct {
	step func(*scene)
	want Breach
}

func (cases stepCases) run(t *testing.T) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene()
			c.step(s)
			err := Transition(s.old, s.next, s.at, s.rules)
			var got *BreachError
			if errors.As(err, &got); c.want == "" && err != nil || c.want != "" && (got == nil || got.Breach != c.want || !errors.Is(err, ErrBreach)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestTransitionRenewals(t *testing.T) {
	t.Parallel()
	stepCases{
		"renewal":                          {func(*scene) {}, ""},
		"renewal after its time":           {func(s *scene) { s.at = s.old.over().Add(day); s.renews() }, ""},
		"renewal with another ttl":         {func(s *scene) { s.next.TTLSeconds = 60 }, ""},
		"renewal of an unknown state":      {func(s *scene) { s.old.State, s.next.State = "paused", "paused" }, ""},
		"renewal at another place":         {func(s *scene) { s.next.Place, s.next.Holder.Session = "p1", "b" }, ""},
		"renewal with another key":         {func(s *scene) { s.next.Claim = "c2" }, BreachForeign},
		"renewal upon another record":      {func(s *scene) { s.next.Prev = "abc" }, BreachChain},
		"renewal upon nothing":             {func(s *scene) { s.next.Prev = "" }, BreachChain},
		"renewal of another authority":     {func(s *scene) { s.next.Authority = "b2" }, BreachAuthority},
		"renewal over another authority's": {func(s *scene) { s.old.Authority = "b2" }, BreachAuthority},
		"renewal with the same revision":   {func(s *scene) { s.next.Revision = 3 }, BreachBackwards},
		"renewal with an older revision":   {func(s *scene) { s.next.Revision = 1 }, BreachBackwards},
		"renewal with an older generation": {func(s *scene) { s.next.Generation = 6 }, BreachBackwards},
		"renewal with a newer generation":  {func(s *scene) { s.next.Generation = 8 }, BreachBackwards},
		"renewal stamped 30 s ago":         {func(s *scene) { s.next.RenewedAt = s.at.Add(-30 * time.Second) }, ""},
		"renewal stamped 31 s ago":         {func(s *scene) { s.next.RenewedAt = s.at.Add(-31 * time.Second) }, BreachStamp},
		"renewal stamped in 30 s":          {func(s *scene) { s.next.RenewedAt = s.at.Add(30 * time.Second) }, ""},
		"renewal stamped in 31 s":          {func(s *scene) { s.next.RenewedAt = s.at.Add(31 * time.Second) }, BreachStamp},
		"renewal with other members": {func(s *scene) {
			s.next.Members = []Resource{demo, "task:x"}
			s.rules.With = []*Record{s.twin("task:x")}
		}, BreachChanged},
		"renewal claimed at another time": {func(s *scene) { s.next.ClaimedAt = s.at }, BreachChanged},
		"renewal of a part":               {func(s *scene) { s.bundle() }, BreachTorn},
		"renewal of the whole":            {func(s *scene) { s.bundle(); s.rules.With = []*Record{s.twin("task:x")} }, ""},
		"renewal beside another's":        {func(s *scene) { s.bundle(); o := s.twin("task:x"); o.Claim = "c3"; s.rules.With = []*Record{o} }, BreachTorn},
		"renewal beside an older one":     {func(s *scene) { s.bundle(); o := s.twin("task:x"); o.Revision--; s.rules.With = []*Record{o} }, BreachTorn},
		"renewal after the release":       {func(s *scene) { s.released(); s.renews(); s.next.State, s.next.Release = StateActive, nil }, BreachRevived},
	}.run(t)
}

func TestTransitionReleases(t *testing.T) {
	t.Parallel()
	stepCases{
		"release":                            {(*scene).releases, ""},
		"release of a part":                  {func(s *scene) { s.bundle(); s.releases() }, ""},
		"release long after its time":        {func(s *scene) { s.at = s.old.over().Add(day); s.releases() }, ""},
		"release with another key":           {func(s *scene) { s.releases(); s.next.Claim = "c2" }, BreachForeign},
		"release stamped an hour ago":        {func(s *scene) { s.releases(); s.next.Release.At = epoch }, BreachStamp},
		"release with the same revision":     {func(s *scene) { s.releases(); s.next.Revision = 3 }, BreachBackwards},
		"release that renews":                {func(s *scene) { s.releases(); s.next.RenewedAt = s.at }, BreachChanged},
		"release forced by its holder":       {func(s *scene) { s.releases(); s.next.Release.Forced = true }, BreachForced},
		"release that reserves":              {func(s *scene) { s.releases(); s.reserves(2 * time.Hour) }, ""},
		"release that reserves for too long": {func(s *scene) { s.releases(); s.reserves(2*time.Hour + time.Second) }, BreachReserved},
		"second release":                     {func(s *scene) { s.released(); s.at = s.at.Add(day); s.restamps() }, ""},
		"second release of another":          {func(s *scene) { s.released(); s.restamps(); s.next.Claim = "c2" }, BreachForeign},
		"second release that reserves anew":  {func(s *scene) { s.released(); s.at = s.at.Add(day); s.releases(); s.reserves(time.Hour) }, ""},
		"force by who may":                   {func(s *scene) { s.forces(); s.rules.Force = true }, ""},
		"force by who may not":               {(*scene).forces, BreachForced},
		"force with an older revision":       {func(s *scene) { s.forces(); s.rules.Force = true; s.next.Revision = 2 }, BreachBackwards},
		"force that changes the claim":       {func(s *scene) { s.forces(); s.rules.Force = true; s.next.ClaimedAt = epoch }, BreachChanged},
	}.run(t)
}

func TestTransitionClaims(t *testing.T) {
	t.Parallel()
	stepCases{
		"take-over":                        {func(s *scene) { s.at = s.old.over(); s.takes() }, ""},
		"take-over half a grace early":     {func(s *scene) { s.at = s.old.over().Add(-30 * time.Second); s.takes() }, ""},
		"take-over more than that early":   {func(s *scene) { s.at = s.old.over().Add(-31 * time.Second); s.takes() }, BreachEarly},
		"take-over of a live claim":        {(*scene).takes, BreachEarly},
		"take-over with a shorter grace":   {func(s *scene) { s.at = s.old.over().Add(-31 * time.Second); s.takes(); s.next.GraceSeconds = 0 }, BreachEarly},
		"take-over of what waits for dead": {func(s *scene) { s.at = s.old.over(); s.old.Takeover = TakeoverDead; s.takes() }, BreachEarly},
		"take-over of the dead":            {func(s *scene) { s.old.Takeover = TakeoverDead; s.at = s.old.over(); s.takes() }, ""},
		"take-over by the same agent": {func(s *scene) {
			s.at = s.old.over()
			s.old.Takeover = TakeoverDead
			s.takes()
			s.next.Holder.Agent = "alice"
		}, ""},
		"take-over of what is observed":       {func(s *scene) { s.at = s.old.over(); s.old.Expiry = ExpiryObserved; s.takes() }, ""},
		"take-over that names nobody":         {func(s *scene) { s.at = s.old.over(); s.takes(); s.next.Predecessor = nil }, BreachChanged},
		"take-over with the same generation":  {func(s *scene) { s.at = s.old.over(); s.takes(); s.next.Generation = 7 }, BreachForeign},
		"take-over with an older generation":  {func(s *scene) { s.at = s.old.over(); s.takes(); s.next.Generation = 6 }, BreachBackwards},
		"take-over with an absurd generation": {func(s *scene) { s.at = s.old.over(); s.takes(); s.next.Generation = maxNumber }, BreachBackwards},
		"take-over with a later revision":     {func(s *scene) { s.at = s.old.over(); s.takes(); s.next.Revision = 2 }, BreachBackwards},
		"take-over claimed long ago":          {func(s *scene) { s.at = s.old.over(); s.takes(); s.next.ClaimedAt = epoch }, BreachStamp},
		"claim of what is released":           {func(s *scene) { s.released(); s.takes(); s.next.Predecessor = nil }, ""},
		"claim of what is reserved":           {func(s *scene) { s.releases(); s.reserves(time.Hour); s.old = s.next; s.takes() }, BreachReserved},
		"claim of what is reserved for it": {func(s *scene) {
			s.releases()
			s.reserves(time.Hour)
			s.old = s.next
			s.takes()
			s.next.Holder.Agent = "carol"
		}, ""},
		"claim of what was reserved": {func(s *scene) {
			s.releases()
			s.reserves(time.Hour)
			s.old = s.next
			s.at = s.at.Add(2 * time.Hour)
			s.takes()
		}, ""},
		"first claim":              {(*scene).creates, ""},
		"first claim at the floor": {func(s *scene) { s.creates(); s.next.Generation = 2 }, BreachBackwards},
		"first claim that is a release": {func(s *scene) {
			s.old.ClaimedAt = s.at
			s.creates()
			s.next.State, s.next.Release = StateReleased, &Release{At: s.at}
		}, BreachForeign},
		"first claim of an odd key":   {func(s *scene) { s.creates(); s.odd("path:a/../b") }, BreachResource},
		"first claim of a whole pool": {func(s *scene) { s.creates(); s.odd("pool:gpu") }, BreachResource},
		"first claim of a slot":       {func(s *scene) { s.creates(); s.odd("pool:gpu#1") }, ""},
	}.run(t)
}

func TestTransitionEnds(t *testing.T) {
	t.Parallel()
	stepCases{
		"end of what overlaps":           {(*scene).overlaps, ""},
		"end of what overlaps, early":    {func(s *scene) { s.overlaps(); s.old.GraceSeconds += 61 }, BreachEarly},
		"end of what does not overlap":   {func(s *scene) { s.overlaps(); s.rules.With[1].Resource = "path:lib" }, BreachForeign},
		"end for nobody's claim":         {func(s *scene) { s.overlaps(); s.rules.With = s.rules.With[:1] }, BreachForeign},
		"end for an older claim":         {func(s *scene) { s.overlaps(); s.rules.With[1].Revision = 2 }, BreachForeign},
		"repair":                         {(*scene).repairs, ""},
		"repair below what was there":    {func(s *scene) { s.repairs(); s.rules.Floor = 9 }, BreachBackwards},
		"claim over what is corrupt":     {func(s *scene) { s.takes(); s.old, s.rules.Corrupt = nil, true }, BreachForeign},
		"deletion of a tombstone":        {(*scene).deletes, ""},
		"deletion of a claim":            {func(s *scene) { s.next, s.rules.Proven = nil, 7 }, BreachDeleted},
		"deletion of a dead claim":       {func(s *scene) { s.next, s.rules.Proven, s.at = nil, 7, s.at.Add(long) }, BreachDeleted},
		"deletion that no floor covers":  {func(s *scene) { s.deletes(); s.rules.Proven = 6 }, BreachDeleted},
		"deletion of a recent tombstone": {func(s *scene) { s.deletes(); s.at = s.at.Add(-time.Minute) }, BreachDeleted},
		"deletion of what is corrupt":    {func(s *scene) { s.old, s.next, s.rules.Corrupt = nil, nil, true }, BreachDeleted},
	}.run(t)
}

// bundle makes it a claim of two.
func (s *scene) bundle() {
	s.old.Members = []Resource{demo, "task:x"}
	s.renews()
}

// twin is the other record of the bundle.
func (s *scene) twin(r Resource) *Record {
	o := *s.next
	o.Resource = r
	return &o
}

func (s *scene) reserves(d time.Duration) {
	s.next.Release.ReservedFor, s.next.Release.ReservedUntil = "carol", s.next.Release.At.Add(d)
}

// restamps adds to a release without changing its time.
func (s *scene) restamps() {
	rel := *s.old.Release
	rel.Note = "more"
	s.next = s.old.tombstone("01d", s.old.Revision+1, rel)
}

func (s *scene) forces() {
	s.releases()
	s.next.Claim, s.next.Release.Forced = "c2", true
}

func (s *scene) odd(r Resource) { s.next.Resource, s.next.Members = r, []Resource{r} }

func (s *scene) repairs() {
	s.forces()
	s.next.Generation, s.next.Revision, s.next.ClaimedAt, s.next.RenewedAt = 8, 1, s.at, s.at
	s.old, s.rules.Corrupt, s.rules.Floor = nil, true, 7
}
