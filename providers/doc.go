// Package providers says what a tracker is to the rest: a place that knows items of work, by keys that people type. It has the interface that every
// tracker meets, what its answers are made of, and how it fails. Each tracker is a package below it, and the suite in providertest holds them all to what
// is said here.
//
// A tracker is read to find work and written to tell people about it. It decides nothing: an assignee or a status is never a claim, no verb that keeps or
// ends a claim asks a tracker, and what a tracker refuses to note loses no claim. Times are the tracker's own and are compared with nothing.
package providers
