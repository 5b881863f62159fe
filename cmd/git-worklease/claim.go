package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
	"github.com/git-worklease/git-worklease/queue"
)

type claimOptions struct {
	keys      []string
	purpose   string
	meta      []string
	supersede bool
	start     bool
	wait      time.Duration
}

func newClaim(a *app) *cobra.Command {
	var o claimOptions
	cmd := &cobra.Command{
		Use:     "claim [KEY...]",
		Aliases: []string{"acquire"},
		Short:   "claim resources, all or none",
		Long: `Claims 1 to 32 resources at once, all or none. A resource is a name with a scheme,
such as task:login, port:3000 or deploy:staging.

Without a KEY it claims what the policy's rules ask for on the branch that is checked out.

Where the policy names trackers, an item is claimed as its tracker calls it: 42, ENG-123, task-7,
or its address. git worklease key shows which resource that is. With --start the tracker is told
as well: status, assignee or label, as it has them. What a tracker refuses loses no claim.

A path is claimed with everything below it: db/migrations, relative to the current
directory, or path:db/migrations, relative to the top of the repository. A * stands for
any characters between two slashes; quote it. Paths that overlap with another's are
refused. pool:gpu is any free slot of a pool that the policy defines, such as pool:gpu#2.

A resource that another holds is refused (exit 3), and its holder is named. What
this session holds already is renewed. A claim whose holder was not heard of for
its time to live and a grace period is taken over.

With --wait it goes on trying for that long, and shows meanwhile who is in the way. A
remote that does not answer is waited for as well. Ctrl-C leaves nothing behind.`,
		Example: "  git worklease claim task:login\n  git worklease claim task:login --wait 10m\n  git worklease claim task:login port:3000 --ttl 30m --purpose \"new login form\"\n" +
			"  git worklease claim db/migrations",
		ValidArgsFunction: a.poolsAndFiles,
		RunE: a.run(func(ctx context.Context, args []string) (*outcome, error) {
			o.keys = args
			return a.runClaim(ctx, o)
		}),
	}
	flags := cmd.Flags()
	for _, name := range []config.Name{config.TTL, config.Grace, config.Takeover, config.Expiry} {
		a.settingFlag(flags, name)
	}
	flags.VarP(durationFlag{&o.wait}, "wait", "w", "how long to wait for what others hold, such as 10m")
	completeWords(cmd, "wait")
	flags.StringVar(&o.purpose, "purpose", "", "what it is for, for others to read")
	flags.StringArrayVar(&o.meta, "meta", nil, "`NAME=VALUE` to keep with the claim, such as branch=login; may be repeated")
	flags.BoolVar(&o.start, "start", false, "tell the trackers of items that work has begun")
	flags.BoolVar(&o.supersede, "supersede", false, "take over your own agent's claim from another session once it is stale, also where others must wait until it is dead")
	return cmd
}

func (a *app) runClaim(ctx context.Context, o claimOptions) (*outcome, error) {
	a.writes, a.early = true, o.wait == 0
	lease.Warm()
	meta, err := parseMeta(o.meta)
	if err != nil {
		return nil, err
	}
	if len(o.keys) == 0 {
		if o.keys, meta, err = a.branchKeys(ctx, meta); err != nil {
			return nil, err
		}
	}
	open := a.openKeys
	if o.wait > 0 {
		open = a.openLong
	}
	w, resources, err := open(ctx, o.keys)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if o.start {
		err = w.checkItems("start", resources)
	}
	if err == nil {
		err = w.checkClaimant(resources)
	}
	if err != nil {
		return nil, err
	}
	req := lease.ClaimRequest{Resources: resources, Purpose: o.purpose, Meta: meta, Supersede: o.supersede}
	if !w.settings.TTL.Origin.IsDefault() {
		req.TTL = w.settings.TTL.V
	}
	result, err := a.claimOrWait(w.ctx, w, req, o.wait)
	if err == nil {
		err = w.checkResult(result)
	}
	if err != nil {
		return nil, err
	}
	claimed := startedJSON{claimJSON: newClaimJSON(result)}
	if o.start {
		var untold []queue.SourceError
		untold, err = a.start(ctx, w, result)
		claimed.Untold = newQueueTroublesJSON(untold, a)
	}
	return &outcome{result: claimed, failure: err, text: func(p *printer) { printClaim(p, result) }}, nil
}

// startedJSON is a claim, and which trackers could not be told of it.
type startedJSON struct {
	claimJSON

	Untold []queueTroubleJSON `json:"untold,omitempty"`
}

func (a *app) start(ctx context.Context, w *work, r *lease.ClaimResult) ([]queue.SourceError, error) {
	q, err := w.queue()
	if err != nil {
		return nil, err
	}
	return a.announce(ctx, w, q, r)
}

// checkResult checks the claimant again, who may have come in between: of a claim that was there already, and of paths. A claim that was only made now is
// given back.
func (w *work) checkResult(r *lease.ClaimResult) error {
	resources := resourcesOf(r.Hold)
	if r.Outcome == lease.Claimed && !slices.ContainsFunc(resources, lease.Resource.IsPath) {
		return nil
	}
	err := w.checkClaimant(resources)
	if err != nil && r.Outcome == lease.Claimed {
		_, back := w.lease.Release(w.ctx, lease.ReleaseRequest{Resources: resources, Reason: "withdrawn", Outcome: lease.OutcomeAbandoned})
		err = errors.Join(err, back)
	}
	return err
}

// parseMeta reads NAME=VALUE pairs.
func parseMeta(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	meta := map[string]string{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, &fault.UsageError{Message: fmt.Sprintf("--meta %q: want NAME=VALUE", pair), Hint: "such as --meta branch=login"}
		}
		meta[name] = value
	}
	return meta, nil
}

func printClaim(p *printer, r *lease.ClaimResult) {
	for i, m := range r.Hold.Members {
		p.printf("%s %s · generation %d", p.palette.Paint(term.Good, string(r.Outcome)), term.Clean(string(m.Resource)), m.Generation)
		if i == 0 {
			p.printf(" · until %s", p.at(r.Records[i].Until()))
		}
		if i == 0 && r.Outcome == lease.Renewed {
			p.printf(" · already yours since %s", term.Clock(r.Since, p.now, p.zone))
			if r.Late > 0 {
				p.printf(" · it had expired %s ago, and nobody took it", term.Span(r.Late))
			}
		}
		p.printf("\n")
	}
	for _, pre := range r.Predecessors {
		printPredecessor(p, pre)
	}
	for _, over := range r.Overlapped {
		p.printf("  ended %s: ", term.Clean(string(over.Resource)))
		printPast(p, over)
	}
}

// claimJSON is a held claim for programs. It holds no key.
type claimJSON struct {
	Outcome      lease.ClaimOutcome `json:"outcome"`
	Claim        lease.ClaimID      `json:"claim"`
	Holder       lease.Holder       `json:"holder"`
	Resources    []memberJSON       `json:"resources"`
	Purpose      string             `json:"purpose,omitempty"`
	Meta         map[string]string  `json:"meta,omitempty"`
	TTLSeconds   int64              `json:"ttl_seconds"`
	ClaimedAt    time.Time          `json:"claimed_at"`
	RenewedAt    time.Time          `json:"renewed_at"`
	ExpiresAt    time.Time          `json:"expires_at"`
	LateSeconds  int64              `json:"late_seconds,omitempty"`
	Predecessors []recordJSON       `json:"predecessors,omitempty"`
	Overlapped   []recordJSON       `json:"overlapped,omitempty"`
}

type memberJSON struct {
	Resource   lease.Resource   `json:"resource"`
	Generation lease.Generation `json:"generation"`
}

func newClaimJSON(r *lease.ClaimResult) claimJSON {
	h := r.Hold
	j := claimJSON{
		Outcome: r.Outcome, Claim: h.Claim, Holder: h.Holder, Resources: members(h.Members), TTLSeconds: int64(h.TTL.Seconds()),
		ClaimedAt: h.ClaimedAt, RenewedAt: h.RenewedAt, ExpiresAt: seconds(h.RenewedAt.Add(h.TTL)),
		LateSeconds: int64(r.Late.Seconds()),
	}
	if len(r.Records) > 0 {
		j.Purpose, j.Meta = r.Records[0].Purpose, r.Records[0].Meta
	}
	for _, pre := range r.Predecessors {
		j.Predecessors = append(j.Predecessors, newRecordJSON(pre))
	}
	for _, over := range r.Overlapped {
		j.Overlapped = append(j.Overlapped, newRecordJSON(over))
	}
	return j
}

func resourcesOf(h lease.Hold) []lease.Resource {
	resources := make([]lease.Resource, len(h.Members))
	for i, m := range h.Members {
		resources[i] = m.Resource
	}
	return resources
}

func generation(g lease.Generation) string { return strconv.FormatUint(uint64(g), 10) }

func members(ms []lease.Member) []memberJSON {
	js := make([]memberJSON, len(ms))
	for i, m := range ms {
		js[i] = memberJSON{Resource: m.Resource, Generation: m.Generation}
	}
	return js
}
