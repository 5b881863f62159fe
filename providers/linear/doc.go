// Package linear reads the issues of teams in Linear, and tells it what becomes of them, by its GraphQL API. The documents that it sends are written by
// hand; tests hold them to the schema that Linear publishes.
//
// The policy's table has three keys:
//
//	[providers.linear]
//	teams = ["ENG", "OPS"]   # the keys of the teams whose issues are listed; at least one
//	workspace = "acme"       # as in https://linear.app/acme; addresses of others are refused; default: not checked
//	close = false            # whether finished work moves an issue to the team's first completed state; default: a comment says so
//
// The token is that of LINEAR_API_KEY, and is in no settings. It goes to the endpoint alone, over https, and no redirect is followed. The endpoint must
// never come from a policy, which others write: it says who gets the token.
//
// A key is "linear:eng-123". Linear ignores case and calls an issue otherwise when it moves to another team: it is then another item. Dependencies are
// relations of the kind "blocks". A pull request counts that Linear's integration shows with a status, and neither as merged nor as closed.
//
// Each page of a listing is one request; nothing is kept between listings, since Linear has no conditional requests. After an answer that there were too many,
// no further request is made before the time that it named. The only clock read is Options.Now, for that.
package linear
