package main

import (
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/internal/fault"
	"github.com/git-worklease/git-worklease/internal/term"
	"github.com/git-worklease/git-worklease/lease"
)

// printDetails is all that the record of a resource says for people, a line for each thing that it says.
func printDetails(p *printer, v *lease.View) {
	r := v.Record
	if r == nil || r.Holder.Agent == "" {
		return
	}
	line := func(name, text string) {
		if text != "" {
			p.printf("  %-12s%s\n", name, text)
		}
	}
	p.printf("\n%s\n", p.palette.Paint(term.Bold, term.Clean(string(v.Resource))))
	line("holder", fault.Holder(r.Holder))
	line("operator", term.Clean(r.Holder.Operator))
	line("claim", fmt.Sprintf("%s, generation %d, revision %d", term.Clean(string(r.Claim)), r.Generation, r.Revision))
	line("purpose", term.Clean(r.Purpose))
	line("claimed", fmt.Sprintf("%s (%s)", p.date(r.ClaimedAt), p.ago(r.ClaimedAt)))
	line("renewed", fmt.Sprintf("%s (%s)", p.date(r.RenewedAt), p.ago(r.RenewedAt)))
	line("terms", fmt.Sprintf("ttl %s, grace %s, taken over when %s, age by %s", term.Length(r.TTL()), term.Length(r.Grace()), term.Clean(string(r.Takeover)), term.Clean(string(r.Expiry))))
	if len(r.Members) > 1 {
		line("members", names(r.Members))
	}
	line("meta", metaText(r.Meta))
	line("checkpoint", term.Clean(string(r.Checkpoint)))
	if pre := r.Predecessor; pre != nil {
		line("before", fmt.Sprintf("%s, generation %d, %s, last heard of %s", fault.Holder(pre.Holder), pre.Generation, term.Clean(pre.Why), p.ago(pre.RenewedAt)))
	}
	printReleaseDetails(p, v, line)
}

func printReleaseDetails(p *printer, v *lease.View, line func(name, text string)) {
	rel := v.Record.Release
	if !v.Record.Released() || rel == nil {
		return
	}
	how := []string{p.ago(rel.At), term.Clean(string(rel.Outcome))}
	if rel.By != nil {
		how = append(how, "by "+fault.Holder(*rel.By))
	}
	if rel.Forced {
		how = append(how, "by force")
	}
	line("released", strings.Join(how, ", "))
	line("reason", term.Clean(rel.Reason))
	line("note", term.Clean(rel.Note))
	if v.State == lease.StandingReserved {
		line("reserved", fmt.Sprintf("for %s until %s", term.Clean(rel.ReservedFor), p.at(v.Deadline)))
	}
}
