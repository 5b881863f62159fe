package hooks

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/git-worklease/git-worklease/internal/config"
	"github.com/git-worklease/git-worklease/lease"
)

// The rules of the tests.
var (
	onIssue      = config.Rule{Line: 1, Branch: "issue/{id}-*", Claim: "github:acme/app#{id}"}
	inMigrations = config.Rule{Line: 2, Paths: []string{"db/migrations/**"}, Claim: config.ClaimPath}
	inSource     = config.Rule{Line: 3, Paths: []string{"src/**", "!src/gen/**"}, Claim: config.ClaimAny}
	sourceOnMain = config.Rule{Line: 4, Branch: "main", Paths: []string{"*.go"}, Claim: "task:main"}
	allOnRelease = config.Rule{Line: 5, Branch: "release/**", Claim: config.ClaimPath}
)

func TestNeeds(t *testing.T) {
	rules := []config.Rule{onIssue, inMigrations, inSource, sourceOnMain, allOnRelease}
	cases := []struct {
		name, branch string
		paths        []string
		want         []Need
	}{
		{"nothing", "main", nil, nil},
		{"branch", "issue/42-login", nil, []Need{{Rule: onIssue, Kind: NeedKey, Resource: "github:acme/app#42"}}},
		{"no branch", "", []string{"db/migrations/7.sql"}, []Need{{Rule: inMigrations, Kind: NeedPath, Paths: []string{"db/migrations/7.sql"}}}},
		{"paths", "x", []string{"a", "db/migrations/7.sql", "src/gen/x", "src/a", "src/b"}, []Need{
			{Rule: inMigrations, Kind: NeedPath, Paths: []string{"db/migrations/7.sql"}}, {Rule: inSource, Kind: NeedAny, Paths: []string{"src/a", "src/b"}},
		}},
		{"both", "main", []string{"x/y.go"}, []Need{{Rule: sourceOnMain, Kind: NeedKey, Resource: "task:main", Paths: []string{"x/y.go"}}}},
		{"one of both", "main", []string{"x/y.c"}, nil},
		{"another of both", "dev", []string{"x/y.go"}, nil},
		{"every path", "release/1/2", []string{"a", "b"}, []Need{{Rule: allOnRelease, Kind: NeedPath, Paths: []string{"a", "b"}}}},
		{"no path of every", "release/1/2", nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Needs(rules, c.branch, c.paths)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestBranchThatMakesNoResource(t *testing.T) {
	_, err := Needs([]config.Rule{onIssue}, "issue/"+strings.Repeat("4", 1100)+"-x", nil)
	if !errors.Is(err, lease.ErrBadResource) {
		t.Errorf("got %v", err)
	}
}

func TestOfBranch(t *testing.T) {
	rules, err := Compile([]config.Rule{onIssue, inSource, {Branch: "issue/**", Paths: []string{"x/**"}, Claim: "task:x"}, {Branch: "**", Claim: config.ClaimAny}, onIssue})
	if err != nil {
		t.Fatal(err)
	}
	for branch, want := range map[string]string{"issue/42-login": "[github:acme/app#42 task:x]", "issue/42": "[task:x]", "main": "[]", "": "[]"} {
		if got, err := rules.OfBranch(branch); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", branch, got, err, want)
		}
	}
}

func TestOpen(t *testing.T) {
	key := Need{Rule: onIssue, Kind: NeedKey, Resource: "github:acme/app#42"}
	source := Need{Rule: inSource, Kind: NeedAny, Paths: []string{"src/a"}}
	paths := Need{Rule: inMigrations, Kind: NeedPath, Paths: []string{"db/migrations/7.sql", "db/migrations/8/x"}}
	left := Need{Rule: inMigrations, Kind: NeedPath, Paths: []string{"db/migrations/8/x"}}
	cases := []struct {
		held []lease.Resource
		want []Need
	}{
		{nil, []Need{key, source, paths}},
		{[]lease.Resource{"task:x"}, []Need{key, paths}},
		{[]lease.Resource{"github:acme/app#42", "path:db/migrations/7.sql"}, []Need{left}},
		{[]lease.Resource{"github:acme/app#42", "path:db/migrations/7.sql", "path:db/*/8"}, nil},
		{[]lease.Resource{"github:acme/app#4", "path:db/migrations"}, []Need{key}},
	}
	for _, c := range cases {
		if got := Open([]Need{key, source, paths}, c.held); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v:\n got %+v\nwant %+v", c.held, got, c.want)
		}
	}
}

func BenchmarkNeeds(b *testing.B) {
	var rules []config.Rule
	for i := range 50 {
		rules = append(rules,
			config.Rule{Paths: []string{fmt.Sprintf("services/s%d/**", i)}, Claim: config.ClaimPath},
			config.Rule{Paths: []string{fmt.Sprintf("*.x%d", i), fmt.Sprintf("!services/s%d/gen/", i)}, Claim: config.ClaimAny},
			config.Rule{Paths: []string{fmt.Sprintf("services/**/part%d/*.go", i)}, Claim: "task:part"},
			config.Rule{Branch: fmt.Sprintf("team%d/{id}-*", i), Claim: "task:{id}"},
		)
	}
	var paths []string
	for i := range 10_000 {
		paths = append(paths, fmt.Sprintf("services/s%d/internal/part%d/deeper/file_%d.go", i%100, i%70, i))
	}
	for b.Loop() {
		if _, err := Needs(rules, "team7/42-x", paths); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNeedsAllMatch(b *testing.B) {
	var rules []config.Rule
	for _, pattern := range []string{"src/**", "*.go", "src/*/part/**", "**/part/*_?.go"} {
		for range 50 {
			rules = append(rules, config.Rule{Paths: []string{pattern}, Claim: config.ClaimAny})
		}
	}
	var paths []string
	for i := range 10_000 {
		paths = append(paths, fmt.Sprintf("src/s%d/part/file_%d.go", i%100, i))
	}
	for b.Loop() {
		if _, err := Needs(rules, "main", paths); err != nil {
			b.Fatal(err)
		}
	}
}
