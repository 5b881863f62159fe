package check

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/hooks"
	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

const policyText = `
[enforce]
exempt = ["dependabot[bot]", "refs/heads/release/*"]
[[rule]]
branch = "issue/{id}-*"
claim = "task:{id}"
[[rule]]
paths = ["db/**"]
claim = "path"
[[rule]]
paths = ["src/**"]
claim = "any"
`

// were is a remote where task:1 had the generations 1 and 2, path:db the generation 5 and what is below was collected.
func were(epochs []lease.Epoch) ([]lease.Past, error) {
	pasts := make([]lease.Past, len(epochs))
	for i, e := range epochs {
		switch {
		case e.Resource == "task:1" && e.Generation <= 2, e.Resource == "path:db" && e.Generation == 5, e.Resource == "path:db/a" && e.Generation == 1:
			pasts[i] = lease.PastWas
		case e.Resource == "path:db" && e.Generation < 5:
			pasts[i] = lease.PastGone
		default:
			pasts[i] = lease.PastNever
		}
	}
	return pasts, nil
}

func judge(t *testing.T, branch string, commits ...hooks.Commit) []Finding {
	t.Helper()
	p, err := config.ParsePolicy([]byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	findings, err := Judge(Question{Policy: p, Branch: branch, Commits: commits, Were: were})
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

func TestJudge(t *testing.T) {
	two := []string{"p", "q"}
	cases := []struct {
		name, branch string
		commit       hooks.Commit
		want         Verdict // "": nothing is asked
		fault        string
		open         []string // paths that are left
	}{
		{"no rule", "main", hooks.Commit{Paths: []string{"a"}}, "", "", nil},
		{"branch, named", "issue/1-x", hooks.Commit{Claims: []string{"task:1 2"}}, Covered, "", nil},
		{"branch, unnamed", "issue/1-x", hooks.Commit{}, Refused, "", nil},
		{"branch, another", "issue/1-x", hooks.Commit{Claims: []string{"path:db 5"}}, Refused, "", nil},
		{"branch, made up", "issue/1-x", hooks.Commit{Claims: []string{"task:1 3"}}, Refused, "task:1 never had generation 3", nil},
		{"branch, misspelt", "issue/1-x", hooks.Commit{Claims: []string{"task:1"}}, Refused, `Worklease-Claim "task:1": want a resource and its generation`, nil},
		{"branch, one of two is good", "issue/1-x", hooks.Commit{Claims: []string{"nonsense", "task:1 1"}}, Covered, "", nil},
		{"path, named", "", hooks.Commit{Paths: []string{"db/7.sql"}, Claims: []string{"path:db 5"}}, Covered, "", nil},
		{"path, in part", "", hooks.Commit{Paths: []string{"db/a/1", "db/b"}, Claims: []string{"path:db/a 1"}}, Refused, "", []string{"db/b"}},
		{"path, collected", "", hooks.Commit{Paths: []string{"db/7.sql"}, Claims: []string{"path:db 4"}}, CannotTell, "nothing is left that would show generation 4 of path:db", nil},
		{"collected, and not enough", "issue/1-x", hooks.Commit{Paths: []string{"db/7.sql"}, Claims: []string{"path:db 4"}}, Refused, "nothing is left", nil},
		{"any, named", "", hooks.Commit{Paths: []string{"src/a"}, Claims: []string{"task:1 1"}}, Covered, "", nil},
		{"any, collected", "", hooks.Commit{Paths: []string{"src/a"}, Claims: []string{"path:db 1"}}, CannotTell, "", nil},
		{"any, made up", "", hooks.Commit{Paths: []string{"src/a"}, Claims: []string{"task:1 9"}}, Refused, "never", nil},
		{"override", "issue/1-x", hooks.Commit{Overrides: []string{"hot fix"}}, Overridden, "", nil},
		{"override of nothing", "issue/1-x", hooks.Commit{Overrides: []string{"hot fix"}, Claims: []string{"task:1 1"}}, Covered, "", nil},
		{"exempt author", "issue/1-x", hooks.Commit{Author: "dependabot[bot]"}, "", "", nil},
		{"exempt branch", "release/1", hooks.Commit{Paths: []string{"db/x"}}, "", "", nil},
		{"clean merge", "issue/1-x", hooks.Commit{Parents: two}, "", "", nil},
		{"merge with its own change", "issue/1-x", hooks.Commit{Parents: two, Paths: []string{"a"}}, Refused, "", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			findings := judge(t, c.branch, c.commit)
			if c.want == "" {
				if len(findings) != 0 {
					t.Errorf("got %+v", findings)
				}
				return
			}
			if len(findings) != 1 || findings[0].Verdict != c.want {
				t.Fatalf("got %+v, want %s", findings, c.want)
			}
			f := findings[0]
			if got := strings.Join(f.Faults, "; "); !strings.Contains(got, c.fault) || c.fault == "" && c.want == Covered && got != "" {
				t.Errorf("faults: %s, want %s", got, c.fault)
			}
			if c.open != nil && !slices.Equal(f.Open[0].Paths, c.open) {
				t.Errorf("left: %v, want %v", f.Open[0].Paths, c.open)
			}
		})
	}
}

// TestMergeRestsOnTheOthers: a merge whose conflicts were resolved carries no trailer, and is covered by those of the branch.
func TestMergeRestsOnTheOthers(t *testing.T) {
	merge := hooks.Commit{ID: "m", Parents: []string{"p", "q"}, Paths: []string{"a"}}
	findings := judge(t, "issue/1-x", merge, hooks.Commit{ID: "c", Claims: []string{"task:1 1"}})
	if len(findings) != 2 || findings[0].Verdict != Covered || findings[0].Commit.ID != "m" {
		t.Errorf("got %+v", findings)
	}
}

// TestRemoteIsAskedForWhatMattersAlone: it is asked about nothing where no commit is covered, and its failure is no verdict.
func TestRemoteIsAskedForWhatMattersAlone(t *testing.T) {
	p, err := config.ParsePolicy([]byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("down")
	asked := 0
	q := Question{Policy: p, Commits: []hooks.Commit{{Paths: []string{"a"}, Claims: []string{"task:1 1"}}}, Were: func(epochs []lease.Epoch) ([]lease.Past, error) {
		asked += len(epochs)
		return nil, down
	}}
	if findings, err := Judge(q); err != nil || findings != nil || asked != 0 {
		t.Errorf("got %+v, %v; asked about %d", findings, err, asked)
	}
	q.Branch = "issue/1-x"
	q.Commits = append(q.Commits, q.Commits[0])
	if _, err := Judge(q); !errors.Is(err, down) || asked != 1 {
		t.Errorf("got %v; asked about %d", err, asked)
	}
}
