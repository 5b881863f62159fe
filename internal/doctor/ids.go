package doctor

// ID names what a finding is about. It is stable.
type ID string

// The findings. [Kinds] says what each is about.
const (
	IDGit          ID = "git"
	IDVersion      ID = "version"
	IDSettings     ID = "settings"
	IDRepository   ID = "repository"
	IDHooks        ID = "hooks"
	IDRemote       ID = "remote"
	IDOtherRemote  ID = "other-remote"
	IDLocalMode    ID = "local-mode"
	IDNotChecked   ID = "not-checked"
	IDState        ID = "state"
	IDStateFiles   ID = "state-files"
	IDStateModes   ID = "state-modes"
	IDStateDisk    ID = "state-disk"
	IDPending      ID = "pending"
	IDOverrides    ID = "overrides"
	IDRead         ID = "read"
	IDTransport    ID = "transport"
	IDProtocol     ID = "protocol"
	IDServer       ID = "server"
	IDHost         ID = "host"
	IDPushes       ID = "pushes"
	IDSignIn       ID = "sign-in"
	IDSSHSharing   ID = "ssh-sharing"
	IDClock        ID = "clock"
	IDBootClock    ID = "boot-clock"
	IDPublic       ID = "public"
	IDAuthority    ID = "authority"
	IDWrite        ID = "write"
	IDHiddenRefs   ID = "hidden-refs"
	IDSwap         ID = "swap"
	IDAtomic       ID = "atomic"
	IDProbes       ID = "probes"
	IDRecords      ID = "records"
	IDCorrupt      ID = "corrupt-record"
	IDNewer        ID = "newer-record"
	IDForeign      ID = "foreign-record"
	IDRolledBack   ID = "rolled-back"
	IDFutureRecord ID = "future-record"
	IDTombstones   ID = "tombstones"
	IDRefs         ID = "refs"
	IDHistory      ID = "history"
	IDRepaired     ID = "repaired"
)

// Kind describes the findings of one ID.
type Kind struct {
	ID    ID
	About string
}

// Kinds are all findings, in the order in which they are reported.
func Kinds() []Kind {
	return []Kind{
		{IDGit, "the version of git, and what of this repository's format matters"},
		{IDVersion, "this program's version against the policy's `requires`"},
		{IDSettings, "settings that can't be used, and keys that this version does not know"},
		{IDRepository, "the git repository that the command runs in"},
		{IDHooks, "whether git runs the hooks of this program in this worktree, where they were installed"},
		{IDRemote, "which remote holds the claims, and why that one"},
		{IDOtherRemote, "other remotes of the clone that carry an authority"},
		{IDLocalMode, "the clone has no remote and decides by itself, or still holds claims from when it did"},
		{IDNotChecked, "what could not be checked because of an earlier problem"},
		{IDState, "the folder where this clone keeps claims and keys: whether it is there and can be written"},
		{IDStateFiles, "files of that folder that can't be used: damaged, copied from elsewhere, links, keys that others can read, a later version"},
		{IDStateModes, "files and folders without keys that others may look at"},
		{IDStateDisk, "the disk of that folder: free space, and whether it is on the network, where locks may not hold"},
		{IDPending, "writes of this clone whose outcome is unknown"},
		{IDOverrides, "passes by `WORKLEASE_OVERRIDE` that this clone has on record; all of them are in the details"},
		{IDRead, "whether the remote answers, and how fast"},
		{IDTransport, "whether this program speaks to the server itself or through git, and why"},
		{IDProtocol, "the version of git's protocol for reading; version 0 sends all refs each time"},
		{IDServer, "the server's name for itself and the repository's object format"},
		{IDHost, "known limits of the host"},
		{IDPushes, "pushes a minute by this clone, against what the host recommends"},
		{IDSignIn, "whether hooks and keepers, which ask nobody, could sign in"},
		{IDSSHSharing, "whether ssh calls share a connection"},
		{IDClock, "this machine's clock against the server's"},
		{IDBootClock, "whether there is a clock that runs while the machine is suspended"},
		{IDPublic, "whether the claims can be read without signing in"},
		{IDAuthority, "the authority at the remote, and whether it is the wanted one"},
		{IDWrite, "whether refs below the prefix can be written, tried with refs that are deleted again"},
		{IDHiddenRefs, "whether the remote shows the refs that it takes"},
		{IDSwap, "whether the server compares before it swaps, exactly"},
		{IDAtomic, "whether the server changes several refs at once or not at all"},
		{IDProbes, "refs that earlier, killed runs of `doctor` left behind"},
		{IDRecords, "how many records of which kind stand at the refs"},
		{IDCorrupt, "records that can't be read; never free; `--repair` puts a tombstone on top, unless it is the ref that the server can't read"},
		{IDNewer, "records of a later version"},
		{IDForeign, "records of another authority"},
		{IDRolledBack, "refs that hold an earlier state than this clone has seen, or are gone"},
		{IDFutureRecord, "claims stamped in the future: their holder's clock is ahead"},
		{IDTombstones, "released claims that are older than they need be kept"},
		{IDRefs, "the number of refs against the bound from which listings get slow"},
		{IDHistory, "`--deep`: what the past of each claim shows: bad signatures, numbers that did not grow, claims taken too early, forced releases"},
		{IDRepaired, "`--repair`: what was repaired"},
	}
}
