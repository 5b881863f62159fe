package lease

import "time"

// NoticeKind tells notices apart.
type NoticeKind string

// The kinds of notices.
const (
	// NoticeClock: this machine's clock is off by Offset.
	NoticeClock NoticeKind = "clock"
	// NoticeLate: the claim had expired Offset ago, and nobody took it.
	NoticeLate NoticeKind = "late"
	// NoticeSettled: an earlier write of unknown outcome was settled: it had landed, or was sent again and has.
	NoticeSettled NoticeKind = "settled"
	// NoticeLost: a claim that was to be renewed was lost, as Err says, and what is said of its resources from then on is about a new one.
	NoticeLost NoticeKind = "lost"
	// NoticeRest: the other resources of a lost claim could not be given back, because of Err. The next verb tries again.
	NoticeRest NoticeKind = "rest"
	// NoticeGivenBack: the claim was taken just when its waiter was told to stop, and was given back; or could not be, because of Err, and stands.
	NoticeGivenBack NoticeKind = "given-back"
	// NoticeAgain: another process of this session has renewed the claim just when it was about to be written, so that is done again.
	NoticeAgain NoticeKind = "again"
	// NoticeWaits: another process of this clone is in the middle of renewing the claim, or of pushing with it, and is waited for.
	NoticeWaits NoticeKind = "waits"
	// NoticeState: what was seen or done could not be remembered, because of Err.
	NoticeState NoticeKind = "state"
)

// Notice is something that a person should know and that changes no result.
type Notice struct {
	Kind      NoticeKind
	Resources []Resource
	// Offset is a duration whose meaning Kind says; for a clock, the server's minus this machine's.
	Offset time.Duration
	Verb   Verb
	Err    error
}

// The bounds of clocks: above the first a stamp is corrected at once, above the second the clock is named. What a Date shows is good to the third.
const (
	stampTolerance = 15 * time.Second
	clockTolerance = 30 * time.Second
	dateTolerance  = time.Second
)

func (a *Authority) notify(n Notice) {
	if a.o.Notify != nil {
		a.o.Notify(n)
	}
}

// forget reports that local state could not be kept, where that endangers nothing.
func (a *Authority) forgot(err error) {
	if err != nil {
		a.notify(Notice{Kind: NoticeState, Err: err})
	}
}
