package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/proof/tally"
)

// mutant is the product with one fault in it, and the test that must find it.
type mutant struct {
	name string
	// file is below the module, and in it old, which is there once, becomes new; more are further changes.
	file, old, new string
	more           []mutant
	// in is the package of the test, and run the test; "": this one, by a search under the given kind of fault.
	in, run string
	// days: only runs that go on for days can find it.
	days bool
}

// search is the test that looks for violations under a kind of fault.
func search(fault string) string {
	return "^TestProofInMemory$/^" + strings.ReplaceAll(fault, " ", "_") + "$"
}

// mutants are broken stores and broken rules, each as somebody might write it.
var mutants = []mutant{
	{
		name: "a swap that does not look at the old object", file: "refstore/memory/memory.go",
		old: "t.r.refs[u.Ref] != u.Old {", new: "t.r.refs[u.Ref] != u.Old && false {",
		run: search("none"),
	},
	{
		name: "a refusal taken for success", file: "refstore/swap.go",
		old: "if err == nil && report.OK() {", new: "if err == nil && !report.Stale {",
		run: search("none"),
	},
	{
		name: "unchanged taken for never landed", file: "refstore/swap.go",
		old: "	if w.doubt {\n		return &UndecidedError{Err: err}\n	}\n	return err\n}\n\nfunc (w *swap) refused()", new: "	return err\n}\n\nfunc (w *swap) refused()",
		run: search("mostly late"),
	},
	{
		name: "a lost reply reported as a failure", file: "refstore/swap.go",
		old: "w.trouble, w.doubt = err, true", new: "return true, &UnavailableError{Trouble: TroubleNetwork, Err: err}",
		run: search("lost replies"),
	},
	{
		name: "a transaction that is half applied and called refused", file: "refstore/memory/memory.go",
		old: `			report.Refused[tx.Updates[i].Ref] = "atomic transaction failed"`,
		new: `			if u := &tx.Updates[i]; report.Refused[u.Ref] == "" && !u.New.IsZero() {
				t.r.add(u.New, u.Content(tx.Format))
				t.r.set(u.Ref, u.New)
			}
			report.Refused[tx.Updates[i].Ref] = "atomic transaction failed"`,
		run: search("none"),
	},
	{
		name: "an expiry without grace", file: "lease/takeable.go",
		old: "	need := r.TTL() + grace\n", new: "	need := r.TTL()\n",
		run: search("none"),
	},
	{
		name: "generations that start anew", file: "lease/plan.go",
		old: "generation: max(c.snap.meta.Floor, t.seen.Generation) + 1}", new: "generation: 1}",
		run: search("none"),
	},
	{
		name: "a renewal of another's claim", file: "lease/standing.go",
		old: "case t.rec.Claim != h.Claim:", new: "case t.rec.Claim != h.Claim && t.rec.Released():",
		run: search("none"),
	},
	{
		name: "a renewal of a claim that was released", file: "lease/standing.go",
		old: "	case t.rec.Released():\n		lost.By", new: "	case t.rec.Released() && h.End != nil:\n		lost.By",
		run: search("mostly late"),
	},
	{
		name: "claims of paths without a second look", file: "lease/take.go",
		old: "Unconfirmed: anyPath(c.want),", new: "",
		run: search("none"),
	},
	{
		name: "a late renewal of a claim that a path overlapped", file: "lease/overlap.go",
		old: "	changes := make([]refstore.Change, len(ended))", new: "	ended = nil\n	changes := make([]refstore.Change, len(ended))",
		more: []mutant{{file: "lease/confirm.go", old: "rival == nil && len(takeable) > 0 {", new: "rival == nil && len(takeable) > maxTries {"}},
		run:  search("none"),
	},
	{
		name: "a floor that counts as soon as it is written", file: "lease/floor.go",
		old: "&& !now.Before(r.ripeAt(corrected)) {", new: "{",
		run: search("none"), days: true,
	},
	{
		name: "a dead keeper's renewal that another sends", file: "internal/coalesce/coalesce.go",
		old: "		if r.abandoned() {\n			continue\n		}\n", new: "",
		in: "internal/coalesce", run: "^TestCase47OnlyTheLivingAreServed$",
	},
}

// rounds is how often each mutant has to be found, each time by other random numbers.
const rounds = 10

// TestProofMutants breaks the product in ways that the other proofs must find: so the proof is proved. What is not broken must pass as often.
func TestProofMutants(t *testing.T) {
	times := 1
	if tally.Full() {
		times = rounds
	}
	all := append([]mutant{{name: "nothing broken", run: search("all")}}, mutants...)
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			binary := m.build(t)
			found := 0
			for round := range times {
				out, bad := m.try(t, binary, round)
				if bad {
					found++
				}
				if want := m.file != ""; bad != want {
					t.Errorf("round %d: found: %v\n%s", round, bad, tail(out))
				}
			}
			row := tally.Row{Part: "mutants", Server: "memory", Fault: m.name, Operations: times, Faults: times, Noticed: found}
			if m.file == "" {
				row.Faults = 0
			}
			row.Violations = max(row.Faults-found, found-row.Faults)
			tally.Add(t, row)
		})
	}
}

// build makes the test program of a mutant.
func (m *mutant) build(t *testing.T) (binary string) {
	t.Helper()
	dir := t.TempDir()
	binary = filepath.Join(dir, "mutant.test")
	args := []string{"test", "-c", "-o", binary}
	if tally.Full() {
		args = append(args, "-race")
	}
	if m.file != "" {
		args = append(args, "-overlay", m.overlay(t, dir))
	}
	in := m.in
	if in == "" {
		in = "internal/proof"
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, "./"+in)...)
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// root is the module's folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// overlay is the file that tells the compiler what to read instead of files of the module.
func (m *mutant) overlay(t *testing.T, dir string) string {
	t.Helper()
	replace := map[string]string{}
	for i, c := range append([]mutant{*m}, m.more...) {
		path := filepath.Join(root(t), filepath.FromSlash(c.file))
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(source, []byte(c.old)); n != 1 {
			t.Fatalf("%s has %d times %q", c.file, n, c.old)
		}
		replace[path] = filepath.Join(dir, fmt.Sprintf("mutated%d.go", i))
		write(t, replace[path], bytes.Replace(source, []byte(c.old), []byte(c.new), 1))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	write(t, name, overlay)
	return name
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// seeds is how many runs a search may take to find a mutant.
const seeds = 250

// try runs the test that must find a mutant, and says whether it has. A program that does not get to the end of its test has found nothing.
func (m *mutant) try(t *testing.T, binary string, round int) (out string, found bool) {
	t.Helper()
	many, step := seeds, 1
	if m.file == "" {
		many = seeds / rounds
	}
	if m.days {
		step = daysStep
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run", m.run, "-test.v")
	cmd.Dir = filepath.Dir(binary)
	cmd.Env = append(os.Environ(), "PROOF_REPORT=", "GORACE=atexit_sleep_ms=0",
		fmt.Sprintf("PROOF_SEED=%d", round*seeds*step+step-1), fmt.Sprintf("PROOF_STEP=%d", step), fmt.Sprintf("PROOF_RUNS=%d", many))
	raw, err := cmd.CombinedOutput()
	out = string(raw)
	switch {
	case err == nil && strings.Contains(out, "--- PASS"):
		return out, false
	case strings.Contains(out, "--- FAIL") && !strings.Contains(out, "panic:"):
		return out, true
	}
	t.Fatalf("%v\n%s", err, tail(out))
	return "", false
}

// tail is the end of what a program printed.
func tail(out string) string { return out[max(0, len(out)-2000):] }
