package main

// unit is that of a measured value.
type unit string

// The units.
const (
	milliseconds unit = "ms"
	mebibytes    unit = "MiB"
	bytesOnWire  unit = "B"
	requests     unit = "requests"
)

// bar compares a value with another of the same group, or with a figure where there is no other.
type bar struct {
	group, value, against string
	// limit is the largest ratio, or the largest value, that meets the bar; 0: for information.
	limit float64
}

// bars is what git-worklease is to reach. The names of the groups and of their values are those of groups.go.
func bars() []bar {
	return []bar{
		{"http few", claim, push, 0.80},
		{"http 20k refs", claim, push, 0.60},
		{"http 5k claims", claim, push, 0},
		{"http few, delayed", claim, push, 0.70},
		{"http few", claim, fetchPush, 0.45},
		{"http 20k refs", claim, fetchPush, 0.45},
		{"http 5k claims", claim, fetchPush, 0.45},
		{"http few, delayed", claim, fetchPush, 0.45},

		{"ssh few", claim, push, 0.25},
		{"ssh few", claim, pushShared, 1.0},
		{"ssh few", claimAlone, fetchPush, 0.55},
		{"ssh few", claimAlone, push, 0},
		{"ssh 20k refs", claim, push, 0},
		{"ssh 20k refs", claim, pushShared, 0},
		{"ssh 5k claims", claim, push, 0},
		{"ssh 5k claims", claim, pushShared, 0},

		{"path few", claim, push, 1.40},
		{"path 20k refs", claim, push, 1.40},
		{"path 5k claims", claim, push, 1.40},
		{"path few", claim, fetchPush, 0},

		{"bytes few", claim, "", 2048},
		{"bytes 20k refs", claim, "", 2048},
		{"bytes 5k claims", claim, "", 2048},
		{"bytes few", status, "", 4096},
		{"bytes 20k refs", status, "", 4096},
		{"bytes 5k claims", status, "", 4096},
		{"bytes few", claim, push, 0},
		{"bytes 20k refs", claim, push, 0},
		{"bytes 5k claims", claim, push, 0},

		{"list 5k claims", listCold, "", 1500},
		{"list 5k claims", listWarm, "", 150},
		{"list 5k claims", listCold + peak, "", 100},
		{"list 5k claims", listWarm + peak, "", 100},

		{"local", claim, updateRef, 6},
		{"local", refused, claim, 1.0},
		{"local", claim, flock, 0},
		{"version", version, execPath, 5},

		{"pre-commit", hookFree + overEmpty, "", 15},
		{"pre-commit", hookCovered + overEmpty, "", 25},
		{"pre-push", hookPush + asked, "", 1},
		{"pre-push", hookPushMany + asked, "", 1},
		{"pre-push, large", hookLarge + processor + overGit, "", 100},
		{"http fenced", fenced, pushAtomic, 2.0},
		{"ssh fenced", fenced, pushAtomic, 2.0},
		{"server hook", serverHook + processor, "", 20},

		{"queue, 2k tasks", queueList, "", 150},
		{"queue, 2k tasks", queueList, backlogList, 0.2},
		{"queue, 10k issues", queueList, "", 150},
		{"queue, 32 agents", nextAtOnce + asked, "", 4},
		{"queue, 32 agents", nextMany + pushed, "", 1},
	}
}

// The contenders.
const (
	claim      = "claim"
	claimAlone = "claim, own connection"
	refused    = "refused claim"
	status     = "status KEY"
	listCold   = "list, cold"
	listWarm   = "list, warm"
	version    = "version"
	push       = "git push"
	pushShared = "git push, shared"
	fetchPush  = "git fetch + push"
	updateRef  = "git update-ref"
	execPath   = "git --exec-path"
	flock      = "flock true"

	hookEmpty    = "empty hook"
	hookFree     = "hook, no rule"
	hookCovered  = "hook, covered"
	hookPush     = "hook, 1 ref"
	hookPushMany = "hook, 30 refs"
	hookLarge    = "hook, 10k paths, 200 rules"
	gitLog       = "git log"
	fenced       = "fenced push"
	pushAtomic   = "git push --atomic"
	serverHook   = "hooks of a claim"
	bare         = "claim, no hook"
	judged       = "claim, judged"

	queueList   = "queue list"
	backlogList = "backlog task list"
	nextAtOnce  = "queue next --claim"
	nextMany    = "queue next --claim -n 30"

	// Each of these marks something else than the time of the contender that it follows.
	peak      = ", peak memory"
	processor = ", processor time"
	asked     = ", requests"
	pushed    = ", pushes"
	// overEmpty marks what it takes longer than an empty hook.
	overEmpty = ", over empty"
	// overGit marks what it takes more than git alone.
	overGit = ", over git log"
)
