package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const twoTables = `version = 1
[views.Ready]
ready = true
[providers.linear]
teams = ["ENG", "OPS"]
close = true
odd = 1
[providers.github]
repository = "acme/app"
order = "priority"
`

func TestTables(t *testing.T) {
	p, err := ParsePolicy([]byte(twoTables))
	if err != nil {
		t.Fatal(err)
	}
	all := p.Tables("providers")
	if len(all) != 2 || all[0].Name != "linear" || all[1].Name != "github" || all[0].Origin.Line != 4 || len(p.Tables("views")) != 1 || len(p.Tables("pools")) != 0 {
		t.Fatalf("%+v", all)
	}
	linear, github := all[0], all[1]
	if !slices.Equal(linear.Texts("teams"), []string{"ENG", "OPS"}) || !linear.Bool("close", false) || linear.Text("workspace", "any") != "any" || !linear.Bool("absent", true) {
		t.Errorf("%+v", linear)
	}
	if unknown, err := linear.Done(); err != nil || len(unknown) != 1 || unknown[0].Key != "providers.linear.odd" || unknown[0].Origin.Line != 7 {
		t.Errorf("%+v, %v", unknown, err)
	}
	if github.Text("repository", "") != "acme/app" || github.OneOf("order", "tracker", "priority") != "priority" || github.OneOf("other", "a", "b") != "a" || github.Texts("none") != nil {
		t.Errorf("%+v", github)
	}
	if unknown, err := github.Done(); err != nil || len(unknown) != 0 {
		t.Errorf("%+v, %v", unknown, err)
	}
}

func TestTableFaults(t *testing.T) {
	for text, want := range map[string]string{
		`providers = 1`:             `providers`,
		"[providers]\ngithub = 1":   `providers.github`,
		"[views]\n\"\" = {}":        `a name of 1 to 48 bytes`,
		"[providers]\n\"a\\nb\"={}": `a name of 1 to 48 bytes`,
	} {
		if _, err := ParsePolicy([]byte(text)); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	p, err := ParsePolicy([]byte("[views.x]\nlabels = \"bug\"\nready = 1\nname = \"a\\tb\"\norder = \"odd\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(*Table){
		"labels": func(t *Table) { t.Texts("labels") }, "ready": func(t *Table) { t.Bool("ready", false) },
		"name": func(t *Table) { t.Text("name", "") }, "order": func(t *Table) { t.OneOf("order", "priority", "tracker") },
	} {
		table := p.Tables("views")[0]
		ask(table)
		var bad *Error
		if _, err := table.Done(); !errors.As(err, &bad) || bad.Key != "views.x."+name || bad.Origin.Line == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
