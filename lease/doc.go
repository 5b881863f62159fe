// Package lease is the state machine of claims: one holder for each resource, until it releases, or until its time is up.
//
// An [Authority] is the refs below one prefix of one [refstore.Store], changed by one session with what one clone remembers in its
// [Local]. A claim on 1 to 32 resources is taken, renewed and released by one swap. Every write was saved as an [Intent] before it was
// sent, with the key of the claim, so that a crash or a lost reply leaves a claim that its session holds, or none.
//
// Resources of different names have nothing to do with each other, except that paths overlap ([Overlap]). No swap decides between those, so a
// claim of paths lists the others before it swaps and again afterwards, and counts as held only after the second look. A pool stands
// for any of its slots.
//
// What decides is pure: how old a lease is, whether it may be taken, what comes of the strictness of two parties, are functions of
// records and times. Two clocks count. The wall clock, corrected by the server's Date where there is one, dates records and judges those
// of others. A clock that runs through suspend, [Clock.Instant], tells a holder when to stop, and measures for how long a record was seen
// unchanged. The package itself reads neither: they are given to it.
//
// Not guaranteed: that a holder stops working when its claim expires; exclusion of writers that don't go through this package; anything
// where a clock is off by more than half of the grace.
package lease
