package fault

import (
	"context"
	"os/exec"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/hooks/guard"
	"github.com/git-worklease/git-worklease/hooks/install"
	"github.com/git-worklease/git-worklease/hooks/server"
	"github.com/git-worklease/git-worklease/internal/child"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/gitenv"
	"github.com/git-worklease/git-worklease/internal/session"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/refstore"
	"github.com/git-worklease/git-worklease/refstore/remote"
)

// Table is every reason that this program gives. The first row that fits an error holds, so that special rows stand before general ones.
func Table() []Row {
	var rows []Row
	for _, part := range [][]Row{guardRows(), callRows, pushRows, commandRows, hookRows, policyRows, claimRows, recordRows, stateRows, providerRows, remoteRows, serverRows} {
		rows = append(rows, part...)
	}
	return rows
}

// guardRows are the answers of hooks. They stand first, since what keeps a guard from telling has a row of its own.
func guardRows() []Row {
	return []Row{
		{Reason: "claim-required", Exit: Forbidden, Means: "a commit or a push needs a claim that this session does not hold, or changes a path that another has claimed",
			Hint: "claim what the message names, or take other work", errs: []error{guard.ErrDenied}, tell: tellGuard},
		{Reason: "cannot-tell", Exit: Unknown, Means: "it can't be told whether a commit or a push is allowed", Hint: "repeat it once the remote answers",
			errs: []error{guard.ErrUnsure}, tell: tellGuard},
	}
}

// callRows are about the call itself and where it was made.
var callRows = []Row{
	{Reason: "not-exclusive", Exit: Unknown, Means: "a simulation saw claims that did not exclude each other", Hint: "rely on no claim at this remote, and report what was seen with the seed",
		errs: []error{ErrNotExclusive}, tell: tellSimulation},
	{Reason: "left-behind", Exit: Unknown, Means: "a simulation could not delete its refs again", Hint: "`git worklease doctor` deletes them once they are a day old",
		errs: []error{ErrLeftBehind}, tell: tellSimulation},
	{Reason: "interrupted", Exit: Interrupted, Means: "the user ended the run", Hint: "`git worklease status` shows what was done",
		errs: []error{context.Canceled}, tell: tellInterrupted},
	{Reason: "usage", Exit: Usage, Means: "the command line is wrong", errs: []error{ErrUsage}, tell: tellUsage},
	{Reason: "nothing-found", Exit: Nothing, Means: "what was asked for does not exist", Hint: "`git worklease list --all` shows what there is", errs: []error{ErrNothing}},
	{Reason: "unhealthy", Exit: Unknown, Means: "doctor has found a problem; the exit status is that of the worst", Hint: "each finding says what to do next",
		errs: []error{ErrUnhealthy}, tell: tellUnhealthy},
	{Reason: "timed-out", Exit: Nothing, Means: "what was watched for did not happen in the time given", Hint: "wait longer, or take other work",
		errs: []error{lease.ErrTimeUp}},
	{Reason: "bad-config", Exit: Usage, Means: "a setting has a value that can't be used", Hint: "`git worklease config show --show-origin` lists all settings",
		errs: []error{config.ErrConfig, session.ErrSessionName}, tell: tellConfig},
	{Reason: "requires-version", Exit: Usage, Means: "the policy file requires another version", Hint: "install the version that the policy asks for",
		errs: []error{config.ErrRequires}},
	{Reason: "not-a-repository", Exit: Usage, Means: "there is no git repository here, and no remote was named", Hint: "go to a clone, or name the remote with --remote URL",
		errs: []error{gitenv.ErrNotRepository}},
	{Reason: "repository-unusable", Exit: Unknown, Means: "git refuses to use the repository", Hint: "`git status` shows git's own advice", errs: []error{gitenv.ErrRepository}},
	{Reason: "several-push-urls", Exit: Usage, Means: "the remote has more than one push URL, and claims need one that decides",
		Hint: "name one with `git config worklease.remote URL`", errs: []error{gitenv.ErrSeveralPushURLs}},
	{Reason: "which-remote", Exit: Usage, Means: "there are several remotes, and nothing says which one holds the claims",
		Hint: "name it with `git config worklease.remote NAME`", errs: []error{gitenv.ErrWhichRemote}},
	{Reason: "no-such-remote", Exit: Usage, Means: "the remote that a setting names does not exist", Hint: "`git remote -v` lists the remotes", errs: []error{gitenv.ErrNoSuchRemote}},
	{Reason: "needs-provider", Exit: Usage, Means: "a key that is no resource as it stands", errs: []error{lease.ErrScheme}, tell: tellScheme},
	{Reason: "bad-key", Exit: Usage, Means: "a key that no resource can have", Hint: "a key is 1 to 1024 bytes of UTF-8 without control characters, such as task:login",
		errs: []error{lease.ErrBadResource}},
	{Reason: "bad-path", Exit: Usage, Means: "a path that can't be claimed: not within the repository, or with ** before its end",
		Hint: "a path is relative to the current directory, or to the top of the repository after path:", errs: []error{lease.ErrBadPath}},
	{Reason: "no-such-pool", Exit: Usage, Means: "the policy has no such pool, or the pool has no such slot", errs: []error{lease.ErrNoPool}, tell: tellPool},
	{Reason: "bad-request", Exit: Usage, Means: "a number or a text outside of the limits", errs: []error{lease.ErrBadRequest}},
	{Reason: "mixed-bundle", Exit: Usage, Means: "some of the resources are held already, and not all by one claim", Hint: "claim the new ones by themselves, or release the others first",
		errs: []error{lease.ErrMixedBundle}},
	{Reason: "which-claim", Exit: Usage, Means: "the verb acts on one claim, and the session holds several", errs: []error{lease.ErrWhichClaim}, tell: tellWhichClaim},
	{Reason: "bad-export", Exit: Usage, Means: "a file that can't be exported to, or that no export has written", Hint: "name a new file to export, and one that `git worklease session export` wrote to import",
		errs: []error{session.ErrFile, lease.ErrBadHold}, tell: tellFile},
	{Reason: "held-here", Exit: Usage, Means: "a claim that is to be imported is in this clone already, or its resource is", Hint: "`git worklease session list` shows where; `git worklease renew` ends an import that was cut short",
		errs: []error{session.ErrHere}},
}

// commandRows are about the command that exec runs.
var commandRows = []Row{
	{Reason: "command-not-found", Exit: OwnFailure, Means: "the command to run does not exist, or is not on PATH", Hint: "check its name and PATH", errs: []error{child.ErrNotFound}},
	{Reason: "command-not-executable", Exit: OwnFailure, Means: "the command to run is no program that this user may run", Hint: "check its permissions and its first line",
		errs: []error{child.ErrNotExecutable, child.ErrDirectory, child.ErrInterpreter}},
	{Reason: "command-not-started", Exit: OwnFailure, Means: "the system would not start the command", errs: []error{child.ErrNotStarted}},
	{Reason: "max-duration", Exit: OutOfTime, Means: "the command was ended because it took longer than --max-duration", Hint: "give it longer, or split the work", errs: []error{ErrMaxDuration}},
}

// policyRows are about what the policy asks of a change.
var policyRows = []Row{
	{Reason: "not-covered", Exit: Forbidden, Means: "the policy asks for a claim of whoever makes such a change, and there is none", Hint: "claim what is asked for",
		errs: []error{ErrNotCovered}, tell: tellNotCovered},
	{Reason: "past-gone", Exit: Unknown, Means: "a commit names a claim, and the history that would show it was collected or can't be read", Hint: "ask the commit's author; only a person can judge it",
		errs: []error{ErrPastGone}},
	{Reason: "shallow-clone", Exit: Unknown, Means: "the clone's history is cut short, so that nobody can say what its commits change",
		Hint: "`git fetch --unshallow`; in CI, check out the whole history, such as by fetch-depth: 0", errs: []error{hooks.ErrShallow}},
}

// hookRows are about the hooks of a clone.
var hookRows = []Row{
	{Reason: "hook-changed", Exit: Forbidden, Means: "a hook that git-worklease wrote was changed by hand, and removing it would lose that",
		Hint: "take what was added out of the file, and repeat the command; what was there before is beside it", errs: []error{install.ErrChanged}},
	{Reason: "hooks-unwritable", Exit: Unknown, Means: "the folder of hooks, or the git directory, can't be written", Hint: "check the permissions of what is named", errs: []error{install.ErrUnwritable}},
	{Reason: "hooks-inert", Exit: Forbidden, Means: "hooks are installed, and git does not run them here", Hint: "what is in the way stands beside each hook; once it is gone, `git worklease hooks install`",
		errs: []error{install.ErrInert}, tell: tellInert},
}

// pushRows are about pushes of code.
var pushRows = []Row{
	{Reason: "bad-push", Exit: Usage, Means: "git can't make out what to push, or to where", Hint: "git's own words say what is missing", errs: []error{remote.ErrCodeCall}, tell: tellPush},
	{Reason: "not-fenceable", Exit: Forbidden, Means: "the push goes to another repository than the claims are in, so that the server can't judge both at once",
		Hint: "`git worklease push --unfenced` renews the claims first, and pushes the code by itself", errs: []error{ErrNotFenceable}, tell: tellNotFenceable},
	{Reason: "push-refused", Exit: Forbidden, Means: "git, a hook or the server refused the code", Hint: "git's own words say why; the claims are as they were",
		errs: []error{remote.ErrCodeRefused}, tell: tellPush},
}

// claimRows are about who holds what.
var claimRows = []Row{
	{Reason: "reserved", Exit: Refused, Means: "the resource is kept for another agent", errs: []error{lease.ErrHeld}, when: isReserved, tell: tellHeld},
	{Reason: "already-claimed", Exit: Refused, Means: "another holder has the resource", errs: []error{lease.ErrHeld}, tell: tellHeld},
	{Reason: "session-ambiguous", Exit: Refused, Means: "another living worker of this worktree made the claim, and nothing but the worktree names the session",
		Hint: "name each worker's session with --session NAME or WORKLEASE_SESSION", errs: []error{session.ErrAmbiguous}, tell: tellAmbiguous},
	{Reason: "lost", Exit: Lost, Means: "the claim was taken over, ended or deleted by another",
		Hint: "stop here: commit what is done to a branch of your own without pushing it, and claim again before you go on", errs: []error{lease.ErrLost}, tell: tellLost},
	{Reason: "former-worktree", Exit: Refused, Means: "the claim was made in a worktree that is gone, and nothing but the name of the present one names the session",
		Hint: "`git worklease session adopt` takes it over for this worktree", errs: []error{session.ErrFormer}, tell: tellFormer},
	{Reason: "key-lost", Exit: Lost, Means: "the claim is in this session's name, but the session's key is gone", Hint: "wait until it can be claimed again; `git worklease status` shows when",
		errs: []error{lease.ErrKeyLost}},
	{Reason: "moving", Exit: Lost, Means: "the claim was brought to this clone, and its record does not say so yet", Hint: "`git worklease renew`", errs: []error{lease.ErrMoving}},
	{Reason: "expired", Exit: Lost, Means: "the claim's time is up, although nobody took it", Hint: "`git worklease renew`", errs: []error{lease.ErrExpired}},
	{Reason: "not-held", Exit: Lost, Means: "this session does not hold the resource", Hint: "`git worklease status` shows what it holds", errs: []error{lease.ErrNotHeld}, tell: tellNotHeld},
	{Reason: "pending", Exit: Unknown, Means: "an earlier write has an unknown outcome", Hint: "repeat the command: it settles what was left open; treat nothing as free until then",
		errs: []error{lease.ErrPending}, tell: tellPending},
	{Reason: "in-use", Exit: Refused, Means: "the authority can't be ended: claims are held there, or what stands there can't be judged", Hint: "wait for the holders, or end it all the same with --force",
		errs: []error{lease.ErrInUse}},
	{Reason: "nothing-to-release", Exit: Nothing, Means: "nobody holds the resource, and it is kept for nobody", Hint: "`git worklease claim` takes it", errs: []error{lease.ErrFree}},
	{Reason: "keys-left", Exit: Forbidden, Means: "the clone holds claims whose keys would be removed", Hint: "`git worklease release` gives them back; with --force others wait until they expire",
		errs: []error{ErrKeysLeft}, tell: tellKeysLeft},
	{Reason: "end-needs-person", Exit: Forbidden, Means: "an authority may be ended by people alone, and the command runs under an agent", Hint: "ask a person to run it",
		errs: []error{ErrEndPerson}, tell: tellEndPerson},
	{Reason: "force-needs-person", Exit: Forbidden, Means: "a claim may be ended by force by people alone, and the command runs under an agent",
		Hint: "ask the holder to release it, or a person to do it by force", errs: []error{ErrForcePerson}, tell: tellForcePerson},
}

// recordRows are about what stands at the remote's refs.
var recordRows = []Row{
	{Reason: "rolled-back", Exit: Unknown, Means: "a ref holds an earlier state than this clone has seen", Hint: "ask whoever runs the server; the claim can't be trusted before its ttl has passed",
		errs: []error{lease.ErrRolledBack}},
	{Reason: "unreadable-ref", Exit: Unknown, Means: "the server can't read one of its own refs, as after a crash; it is never free",
		Hint: "ask whoever runs the server to mend it: `git fsck` there names it", errs: []error{refstore.ErrUnreadable}},
	{Reason: "corrupt-record", Exit: Unknown, Means: "what stands at a ref is no valid record; it is never free", Hint: "`git worklease doctor --repair` puts a tombstone on top of it; somebody wrote to the ref by hand",
		errs: []error{lease.ErrCorrupt, refstore.ErrNotRecord, refstore.ErrBadOID}},
	{Reason: "newer-record", Exit: Unknown, Means: "the record was written by a later version", Hint: "upgrade git-worklease", errs: []error{lease.ErrNewer}},
	{Reason: "wrong-authority", Exit: Forbidden, Means: "the remote or a record is that of another authority", Hint: "name the right remote with `git config worklease.remote NAME`",
		errs: []error{lease.ErrWrongAuthority, session.ErrOtherAuthority}, tell: tellWrongRemote},
	{Reason: "refs-hidden", Exit: Forbidden, Means: "the remote takes the claims' refs, and does not show them", Hint: "ask whoever runs the server to show refs/worklease/ (uploadpack.hideRefs, transfer.hideRefs)",
		errs: []error{lease.ErrHidden}},
	{Reason: "authority-gone", Exit: Unknown, Means: "the remote has lost the record of its authority",
		Hint: "ask whoever runs the server what happened to refs/worklease/; `git worklease doctor --repair` makes it anew", errs: []error{lease.ErrAuthorityGone}},
	{Reason: "unrepairable", Exit: Unknown, Means: "doctor can't repair it with what this clone knows", Hint: "repair it from a clone that has used these claims before",
		errs: []error{lease.ErrUnrepairable}},
	{Reason: "no-authority", Exit: Forbidden, Means: "the remote carries no authority, and one is named", Hint: "check the remote and the authority with `git worklease config show --show-origin`",
		errs: []error{lease.ErrNoAuthority}},
	{Reason: "not-atomic", Exit: Forbidden, Means: "the server can't change several refs at once", Hint: "claim one resource at a time",
		errs: []error{lease.ErrNotAtomic, refstore.ErrHalfApplied}},
	{Reason: "not-atomic", Exit: Forbidden, Means: "the server can't change several refs at once", Hint: "claim one resource at a time",
		errs: []error{refstore.ErrUnsupported}, when: lacksAtomic},
}

// stateRows are about what this clone keeps.
var stateRows = []Row{
	{Reason: "local-claims", Exit: Forbidden, Means: "the clone holds claims from the time when it had no remote", errs: []error{ErrLocalClaims}, tell: tellLocalClaims},
	{Reason: "state-read-only", Exit: Unknown, Means: "the folder where this clone keeps its claims can't be written",
		Hint: "name another folder with `git config worklease.stateDir PATH`, or WORKLEASE_STATE_DIR", errs: []error{session.ErrReadOnly}},
	{Reason: "disk-full", Exit: Unknown, Means: "there is no space left for what this clone keeps; what was there is still there", Hint: "make space, and repeat the command",
		errs: []error{session.ErrFull}},
	{Reason: "loose-permissions", Exit: Unknown, Means: "others can read a file with this clone's private keys", errs: []error{session.ErrLoose}, tell: tellLoose},
	{Reason: "copied-state", Exit: Unknown, Means: "the clone's claims were made by another copy of it, which may still use them",
		Hint: "go on in the clone that made the claims, or take them over with `git worklease session adopt`, or --all for every session, and use the other copy no more",
		errs: []error{session.ErrCopied}, tell: tellCopied},
	{Reason: "newer-state", Exit: Unknown, Means: "what this clone keeps was written by a later version", Hint: "upgrade git-worklease", errs: []error{session.ErrNewer}},
	{Reason: "state-busy", Exit: Unknown, Means: "another process of this clone kept a lock for too long", Hint: "try again", errs: []error{session.ErrBusy}},
	{Reason: "no-home", Exit: Usage, Means: "neither a repository nor the environment says where claims could be kept", Hint: "set HOME, XDG_STATE_HOME or WORKLEASE_STATE_DIR",
		errs: []error{session.ErrNoHome}},
	{Reason: "state-unreadable", Exit: Unknown, Means: "a file or folder of what this clone keeps can't be read, or is a link", Hint: "look at what the message names; its claims can't be used before that",
		errs: []error{session.ErrState, session.ErrSymlink}},
}

// serverRows are about the hook of a bare repository.
var serverRows = []Row{
	{Reason: "not-bare", Exit: Usage, Means: "the server hook is for bare repositories, which nobody works in", Hint: "go to the repository on the server, or leave out --server", errs: []error{server.ErrNotBare}},
	{Reason: "git-too-old", Exit: Forbidden, Means: "git can't do what the command needs", Hint: "upgrade git on this machine", errs: []error{server.ErrOldGit}},
	{Reason: "shared-hooks", Exit: Forbidden, Means: "core.hooksPath names a folder of hooks that is not this repository's own", Hint: "`git config core.hooksPath hooks` gives the repository its own",
		errs: []error{server.ErrSharedHooks}},
	{Reason: "server-hook-changed", Exit: Forbidden, Means: "a hook that git-worklease has written was changed by hand, or a file is in its way", Hint: "look at the file that the message names, and move it away",
		errs: []error{server.ErrHookChanged}},
	{Reason: "server-settings", Exit: Usage, Means: "the settings of the server hook can't be used", Hint: "correct " + server.SettingsFile + " in the git directory", errs: []error{server.ErrSettings}},
	{Reason: "refused-by-hook", Exit: Forbidden, Means: "the server hook has refused a push", errs: []error{server.ErrUser, server.ErrNotCovered}},
}

// remoteRows are about the way to the remote.
var remoteRows = []Row{
	{Reason: "undecided", Exit: Unknown, Means: "the change may have landed, or may land yet", Hint: "repeat the command: it settles what was left open", errs: []error{refstore.ErrUndecided}},
	{Reason: "refused-by-server", Exit: Forbidden, Means: "the server will not have the change", Hint: "ask whoever runs the server", errs: []error{refstore.ErrRefused}, tell: tellRefused},
	{Reason: "unsupported", Exit: Forbidden, Means: "the server or the URL can't do it", errs: []error{refstore.ErrUnsupported}},
	{Reason: "conflict", Exit: Unknown, Means: "the refs kept changing", Hint: "try again", errs: []error{refstore.ErrConflict}},
	{Reason: "read-only", Exit: Forbidden, Means: "the remote may be read, but not written", Hint: "ask for the right to push, or name another remote with `git config worklease.remote NAME`",
		errs: []error{refstore.ErrUnavailable}, when: writes(trouble(refstore.TroubleDenied)), tell: tellUnavailable},
	{Reason: "access-denied", Exit: Forbidden, Means: "the remote may not be read", errs: []error{refstore.ErrUnavailable}, when: trouble(refstore.TroubleDenied), tell: tellUnavailable},
	{Reason: "auth-failed", Exit: Unknown, Means: "credentials are missing or were refused", Hint: "run `git worklease status` once on a terminal to sign in",
		errs: []error{refstore.ErrUnavailable}, when: trouble(refstore.TroubleAuth), tell: tellUnavailable},
	{Reason: "timeout", Exit: Unknown, Means: "the remote did not answer in time", Hint: "try again; --timeout gives it longer",
		errs: []error{refstore.ErrUnavailable}, when: trouble(refstore.TroubleDeadline), tell: tellUnavailable},
	{Reason: "timeout", Exit: Unknown, Means: "the remote did not answer in time", Hint: "try again; --timeout gives it longer", errs: []error{context.DeadlineExceeded}},
	{Reason: "repository-not-found", Exit: Unknown, Means: "there is no repository at the remote's URL, or it is hidden from this user", Hint: "check the URL with `git ls-remote`",
		errs: []error{refstore.ErrUnavailable}, when: trouble(refstore.TroubleNotFound), tell: tellUnavailable},
	{Reason: "remote-busy", Exit: Unknown, Means: "the remote turns requests away", Hint: "try again later", errs: []error{refstore.ErrUnavailable}, when: trouble(refstore.TroubleBusy), tell: tellUnavailable},
	{Reason: "not-git", Exit: Unknown, Means: "the answer is not that of a git server", Hint: "check the URL; a proxy or a sign-in page may have answered",
		errs: []error{refstore.ErrUnavailable}, when: trouble(refstore.TroubleGarbage), tell: tellUnavailable},
	{Reason: "local-failure", Exit: Unknown, Means: "a program or a file of this machine failed", errs: []error{refstore.ErrUnavailable}, when: trouble(refstore.TroubleLocal), tell: tellUnavailable},
	{Reason: "program-missing", Exit: Unknown, Means: "a program that is needed, such as git, is not on PATH", Hint: "install it, or set PATH", errs: []error{exec.ErrNotFound}},
	{Reason: "unreachable", Exit: Unknown, Means: "the remote can't be reached; nothing was changed", Hint: "check the connection with `git ls-remote`",
		errs: []error{refstore.ErrUnavailable}, tell: tellUnavailable},
}
