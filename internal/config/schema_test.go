package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/git-worklease/git-worklease/internal/config"
)

// schema is a part of the schema that editors use. It knows the keywords that ours has, and reading it fails for any other.
type schema struct {
	Schema               string             `json:"$schema"`
	Ref                  string             `json:"$ref"`
	Title                string             `json:"title"`
	Description          string             `json:"description"`
	Type                 string             `json:"type"`
	Const                any                `json:"const"`
	Enum                 []any              `json:"enum"`
	Pattern              string             `json:"pattern"`
	MinLength            int                `json:"minLength"`
	MaxLength            int                `json:"maxLength"`
	Minimum              float64            `json:"minimum"`
	Maximum              float64            `json:"maximum"`
	MinItems             int                `json:"minItems"`
	MaxItems             int                `json:"maxItems"`
	Items                *schema            `json:"items"`
	Properties           map[string]*schema `json:"properties"`
	PropertyNames        *schema            `json:"propertyNames"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	Required             []string           `json:"required"`
	AnyOf                []*schema          `json:"anyOf"`
	Definitions          map[string]*schema `json:"definitions"`
}

func readSchema(t *testing.T) *schema {
	t.Helper()
	data, err := os.ReadFile("../../schemas/worklease.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	s := &schema{}
	if err := decoder.Decode(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// check says what is wrong with a value, "" for nothing.
func (s *schema) check(root *schema, value any) string {
	if s.Ref != "" {
		if fault := root.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")].check(root, value); fault != "" {
			return fault
		}
	}
	switch {
	case s.Const != nil && fmt.Sprint(s.Const) != fmt.Sprint(value):
		return fmt.Sprintf("%v is not %v", value, s.Const)
	case s.Enum != nil && !slices.Contains(s.Enum, value):
		return fmt.Sprintf("%v is none of %v", value, s.Enum)
	}
	types := map[string]reflect.Kind{"string": reflect.String, "integer": reflect.Int64, "array": reflect.Slice, "object": reflect.Map}
	if kind, typed := types[s.Type]; typed && reflect.ValueOf(value).Kind() != kind {
		return fmt.Sprintf("%v is no %s", value, s.Type)
	}
	switch v := value.(type) {
	case string:
		return s.checkText(v)
	case int64:
		if s.Maximum != 0 && (float64(v) < s.Minimum || float64(v) > s.Maximum) {
			return fmt.Sprintf("%d is out of bounds", v)
		}
	case map[string]any:
		return s.checkTable(root, v)
	case []any:
		return s.checkList(root, v)
	case []map[string]any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return s.checkList(root, list)
	}
	return ""
}

func (s *schema) checkText(v string) string {
	switch {
	case s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v):
		return fmt.Sprintf("%q does not match %s", v, s.Pattern)
	case len(v) < s.MinLength, s.MaxLength > 0 && len(v) > s.MaxLength:
		return fmt.Sprintf("%q has %d bytes", v, len(v))
	}
	return ""
}

func (s *schema) checkList(root *schema, list []any) string {
	if len(list) < s.MinItems || s.MaxItems > 0 && len(list) > s.MaxItems {
		return fmt.Sprintf("%d items", len(list))
	}
	for _, one := range list {
		if fault := s.Items.check(root, one); fault != "" {
			return fault
		}
	}
	return ""
}

func (s *schema) checkTable(root *schema, table map[string]any) string {
	for _, key := range s.Required {
		if _, ok := table[key]; !ok {
			return key + " is missing"
		}
	}
	if s.AnyOf != nil && !slices.ContainsFunc(s.AnyOf, func(one *schema) bool { return one.check(root, table) == "" }) {
		return fmt.Sprintf("%v is nothing of what it may be", table)
	}
	for key, value := range table {
		if s.PropertyNames != nil {
			if fault := s.PropertyNames.check(root, key); fault != "" {
				return fault
			}
		}
		inner := s.Properties[key]
		if inner == nil {
			switch more := string(s.AdditionalProperties); more {
			case "false":
				return key + " is unknown"
			case "":
				continue
			default:
				inner = &schema{}
				if err := json.Unmarshal([]byte(more), inner); err != nil {
					return err.Error()
				}
			}
		}
		if fault := inner.check(root, value); fault != "" {
			return key + ": " + fault
		}
	}
	return ""
}

// TestSchemaKnowsEveryKey: what the policy file may set, editors offer, and nothing else.
func TestSchemaKnowsEveryKey(t *testing.T) {
	s := readSchema(t)
	var got, want []string
	for key, inner := range s.Properties {
		switch key {
		case "lease", "enforce":
			for name := range inner.Properties {
				got = append(got, key+"."+name)
			}
		case "rule":
			for name := range inner.Items.Properties {
				got = append(got, key+"."+name)
			}
		default:
			got = append(got, key)
		}
	}
	for _, spec := range config.Specs() {
		if spec.Policy != "" {
			want = append(want, spec.Policy)
		}
	}
	want = append(want, "version", "requires", "pools", "providers", "views", "rule.branch", "rule.paths", "rule.claim")
	for i := range reflect.TypeFor[config.Enforce]().NumField() {
		want = append(want, "enforce."+strings.ToLower(reflect.TypeFor[config.Enforce]().Field(i).Name))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the schema has %v\nthe policy     %v", got, want)
	}
}

// TestSchemaAgreesWithParser: an editor and the program think alike of these files.
func TestSchemaAgreesWithParser(t *testing.T) {
	s := readSchema(t)
	good := []string{
		"", strings.Replace(example, "note = \"\"\"\nttl = \"not me\"\n\"\"\"\n", "", 1), ruled,
		"requires = '>= 0.2, < 2'\nprefix = 'refs/heads/worklease/'\nremote = 'https://example.com/a.git'\n",
		"[lease]\nttl = '1d'\ngrace = '0s'\ntakeover = 'dead'\nexpiry = 'observed'\nforce = 'agents'\nretention = '2w'\n",
		"[enforce]\ncommit = 'block'\npush = 'off'\noffline = 'off'\nforks = 'block'\noverride = 'agents'\nexempt = []\n",
		"[pools]\ngpu = 2\n[providers.github]\nrepo = 'a/b'\n[views.Ready]\nx = 1\n",
		"[[rule]]\npaths = ['*.sql', '!a/[a-z]?', '\\{x\\}']\nclaim = 'path:db'\n",
		"[[rule]]\nbranch = '{team}/{id}/**'\nclaim = 'task:{team}{id}'\n[[rule]]\nbranch = 'r[0-9]*'\npaths = ['a']\nclaim = 'path'\n",
		"[[rule]]\nbranch = '{o}/{id}'\nclaim = 'github:{o}/app#{id}'\n",
	}
	bad := []string{
		"version = 2", "requires = '0.2'", "requires = 1", "remote = '-x'", "remote = ''", "authority = 'XYZ'", "prefix = 'refs/worklease'",
		"[lease]\nttl = 30", "[lease]\nttl = '30'", "[lease]\nttl = ''", "[lease]\ntakeover = 'now'", "[lease]\nexpiry = 'never'", "[lease]\nforce = 'all'",
		"enforce = 1", "[enforce]\npush = 'never'", "[enforce]\npush = true", "[enforce]\noverride = 'nobody'", "[enforce]\nexempt = 'x'", "[enforce]\nexempt = ['']", "[enforce]\nexempt = [1]",
		"rule = 1", "rule = [1]", "[rule]\nclaim = 'any'", "[[rule]]\nclaim = 'any'", "[[rule]]\nbranch = 'a'", "[[rule]]\nbranch = ''\nclaim = 'any'", "[[rule]]\nbranch = 'a b'\nclaim = 'any'",
		"[[rule]]\nbranch = '{A}'\nclaim = 'any'", "[[rule]]\npaths = 'a'\nclaim = 'any'", "[[rule]]\npaths = []\nclaim = 'any'", "[[rule]]\npaths = ['']\nclaim = 'any'", "[[rule]]\npaths = ['{a,b}']\nclaim = 'any'",
		"[[rule]]\npaths = ['a\\b']\nclaim = 'any'", "[[rule]]\nbranch = 'a'\nclaim = 'some'", "[[rule]]\nbranch = '{id}'\nclaim = 'github:#{id}'", "[[rule]]\nbranch = 'a'\nclaim = 'https://x/y'",
		"[[rule]]\nbranch = 'a'\nclaim = 'task:{'", "[[rule]]\nbranch = 'a'\nclaim = 1", "pools = 1", "[pools]\ngpu = 0", "[pools]\ngpu = 'x'", "[pools]\n'a b' = 1",
	}
	for want, list := range map[bool][]string{true: good, false: bad} {
		for _, text := range list {
			p, err := config.ParsePolicy([]byte(text))
			if err == nil {
				_, err = config.Load(config.Sources{Policy: p})
			}
			if (err == nil) != want {
				t.Errorf("the parser of %q: %v", text, err)
			}
			var tree map[string]any
			if _, err := toml.Decode(text, &tree); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if fault := s.check(s, tree); (fault == "") != want {
				t.Errorf("the schema of %q: %q", text, fault)
			}
		}
	}
	// A key that this version does not know is a warning to the program.
	if fault := s.check(s, map[string]any{"enforced": map[string]any{}}); fault == "" {
		t.Error("the schema knows every key")
	}
}

// TestDocumentedPolicy: what docs/policy.md shows can be read, and says what holds without it.
func TestDocumentedPolicy(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```toml\n")
	shown, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/policy.md shows no policy")
	}
	p := policy(t, shown)
	s, err := config.Load(config.Sources{Policy: p})
	if err != nil || len(s.Unknown) > 0 || len(p.Rules()) != 3 {
		t.Fatalf("%+v, %v, %+v", s.Unknown, err, p.Rules())
	}
	e, none := p.Enforce(), policy(t, "").Enforce()
	if e.Exempt = nil; !reflect.DeepEqual(e, none) {
		t.Errorf("it shows %+v, and without a file there is %+v", e, none)
	}
	bare, err := config.Load(config.Sources{})
	if err != nil || s.TTL.V != bare.TTL.V {
		t.Errorf("it shows a ttl of %v, %v", s.TTL.V, err)
	}
}
