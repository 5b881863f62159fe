package github

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	gh "github.com/google/go-github/v66/github"

	"github.com/git-worklease/git-worklease/providers"
)

// user is the token's user, who is asked for once.
func (p *Provider) user(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.login != "" {
		return p.login, nil
	}
	var user struct{ Login string }
	if _, err := p.get(ctx, "user", &user); err != nil {
		return "", err
	}
	if user.Login == "" || len(user.Login) > maxName {
		return "", broken("GET "+p.client.BaseURL.String()+"user", errors.New("a user without a name"))
	}
	p.login = user.Login
	return user.Login, nil
}

// Start implements [providers.Starter]: it assigns the token's user, and adds the label of work in progress. What fails of these does not keep the
// other from being done.
func (p *Provider) Start(ctx context.Context, key providers.Key, _ providers.Worker) (providers.Mark, error) {
	r, wanted, err := p.starting(ctx, key)
	assigned, assignErr := p.assign(ctx, r, wanted.Assigned)
	if err = errors.Join(err, assignErr); errors.Is(err, providers.ErrRateLimited) {
		return providers.Mark{Assigned: assigned}, err
	}
	labels, labelErr := p.label(ctx, r, wanted.Labels)
	return providers.Mark{Assigned: assigned, Labels: labels}, errors.Join(err, labelErr)
}

// Plan implements [providers.Planner].
func (p *Provider) Plan(ctx context.Context, key providers.Key, _ providers.Worker) (providers.Mark, error) {
	r, wanted, err := p.starting(ctx, key)
	if len(wanted.Labels) == 0 {
		return wanted, err
	}
	labels, labelErr := p.spelled(ctx, r.repo, wanted.Labels)
	return providers.Mark{Assigned: wanted.Assigned, Labels: labels}, errors.Join(err, labelErr)
}

// starting reads an item that work is to begin on, and says what is to be added to it, with the label as the settings spell it; where the token's user can't be
// learned, the label and an error.
func (p *Provider) starting(ctx context.Context, key providers.Key) (ref, providers.Mark, error) {
	r, i, err := p.toChange(ctx, key)
	if err != nil {
		return ref{}, providers.Mark{}, err
	}
	if i.State == "closed" {
		return ref{}, providers.Mark{}, fmt.Errorf("%s is closed: %w", key, providers.ErrUnsupported)
	}
	login, err := p.user(ctx)
	return r, providers.Mark{Assigned: lacking(i.Assignees, login), Labels: lacking(i.Labels, p.started)}, err
}

// lacking is a name alone, if there is one and it is not among others.
func lacking(names []string, name string) []string {
	if name == "" || has(names, name) {
		return nil
	}
	return []string{name}
}

// toChange reads an item that is about to be changed.
func (p *Provider) toChange(ctx context.Context, key providers.Key) (ref, *issue, error) {
	r, err := p.canonical(key)
	if err != nil {
		return ref{}, nil, err
	}
	i, err := p.getIssue(ctx, r)
	return r, i, err
}

// assign assigns users, and returns who was added.
func (p *Provider) assign(ctx context.Context, r ref, logins []string) ([]string, error) {
	if len(logins) == 0 {
		return nil, nil
	}
	after, _, err := p.client.Issues.AddAssignees(ctx, r.repo.Owner, r.repo.Name, r.number, logins)
	name := "POST " + p.client.BaseURL.String() + issuePath(r, "assignees")
	if err != nil {
		return nil, p.failure(ctx, name, err)
	}
	for _, user := range after.Assignees {
		if has(logins, user.GetLogin()) {
			return []string{user.GetLogin()}, nil
		}
	}
	return nil, fmt.Errorf("%s: %s was not assigned, which only those are who may write: %w", name, strings.Join(logins, ", "), providers.ErrUnauthorised)
}

// label adds labels, and returns them as the repository spells them.
func (p *Provider) label(ctx context.Context, r ref, labels []string) ([]string, error) {
	if len(labels) == 0 {
		return nil, nil
	}
	path := issuePath(r, "labels")
	var after []*gh.Label
	req, err := p.client.NewRequest(http.MethodPost, path, map[string][]string{"labels": labels}) // go-github's own method sends the list alone
	if err == nil {
		_, err = p.client.Do(ctx, req, &after)
	}
	if err != nil {
		return nil, p.failure(ctx, "POST "+p.client.BaseURL.String()+path, err)
	}
	for _, l := range after {
		respell(labels, l.GetName())
	}
	return labels, nil
}

// spelled are labels as the repository spells them, if it has them.
func (p *Provider) spelled(ctx context.Context, repo Repository, labels []string) ([]string, error) {
	pages := &pager{p: p, path: repoPath(repo, "labels"), query: url.Values{}}
	pages.take = func(items []json.RawMessage) int {
		for _, raw := range items {
			if name, err := nameOf(raw); err == nil {
				respell(labels, name)
			}
		}
		return len(items)
	}
	return labels, pages.run(ctx)
}

// respell gives a name the spelling of another that GitHub takes for the same.
func respell(names []string, as string) {
	if i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, as) }); i >= 0 {
		names[i] = as
	}
}

// Unstart implements [providers.Starter].
func (p *Provider) Unstart(ctx context.Context, key providers.Key, mark providers.Mark) error {
	r, i, err := p.toChange(ctx, key)
	if err != nil {
		return err
	}
	var errs []error
	for _, login := range mark.Assigned {
		if has(i.Assignees, login) {
			_, _, err := p.client.Issues.RemoveAssignees(ctx, r.repo.Owner, r.repo.Name, r.number, []string{login})
			errs = append(errs, p.failure(ctx, "DELETE "+p.client.BaseURL.String()+issuePath(r, "assignees"), err))
		}
	}
	for _, label := range mark.Labels {
		errs = append(errs, p.unlabel(ctx, r, i, label))
	}
	return errors.Join(errs...)
}

// unlabel takes a label away, if it is there.
func (p *Provider) unlabel(ctx context.Context, r ref, i *issue, label string) error {
	if !has(i.Labels, label) {
		return nil
	}
	path := issuePath(r, "labels", label)
	req, err := p.client.NewRequest(http.MethodDelete, path, nil) // go-github's own method leaves a slash in a label as it is
	if err == nil {
		_, err = p.client.Do(ctx, req, nil)
	}
	err = p.failure(ctx, "DELETE "+p.client.BaseURL.String()+path, err)
	if errors.Is(err, providers.ErrNotFound) { // somebody else was quicker
		return nil
	}
	return err
}

// Finish implements [providers.Finisher]: a comment, which is written once for a worker's run and result; the labels; and where the settings let it, the
// end of an issue whose work is done.
func (p *Provider) Finish(ctx context.Context, key providers.Key, by providers.Worker, result providers.Result) error {
	r, i, err := p.toChange(ctx, key)
	if err != nil {
		return err
	}
	errs := []error{p.comment(ctx, r, by, result)}
	if errors.Is(errs[0], providers.ErrRateLimited) {
		return errs[0]
	}
	if result == providers.Reviewing {
		_, err := p.label(ctx, r, lacking(i.Labels, p.review))
		errs = append(errs, err)
	}
	errs = append(errs, p.unlabel(ctx, r, i, p.started))
	if result == providers.Finished {
		errs = append(errs, p.unlabel(ctx, r, i, p.review), p.close(ctx, r, i))
	}
	return errors.Join(errs...)
}

// close closes an issue where the settings let it.
func (p *Provider) close(ctx context.Context, r ref, i *issue) error {
	if !p.closes || i.Pull != nil || i.State == "closed" {
		return nil
	}
	change := &gh.IssueRequest{State: gh.String("closed"), StateReason: gh.String("completed")}
	_, _, err := p.client.Issues.Edit(ctx, r.repo.Owner, r.repo.Name, r.number, change)
	return p.failure(ctx, "PATCH "+p.client.BaseURL.String()+issuePath(r), err)
}

// comment writes what has come of the work, unless a comment with the same mark is there.
func (p *Provider) comment(ctx context.Context, r ref, by providers.Worker, result providers.Result) error {
	mark := markOf(by, result)
	there := false
	pages := &pager{p: p, path: issuePath(r, "comments"), query: url.Values{}}
	pages.take = func(items []json.RawMessage) int {
		for _, raw := range items {
			var c struct{ Body string }
			there = there || json.Unmarshal(raw, &c) == nil && strings.Contains(c.Body, mark)
		}
		return len(items)
	}
	if err := pages.run(ctx); err != nil || there {
		return err
	}
	body := commentText(by, result) + "\n\n" + mark
	_, _, err := p.client.Issues.CreateComment(ctx, r.repo.Owner, r.repo.Name, r.number, &gh.IssueComment{Body: gh.String(body)})
	return p.failure(ctx, "POST "+p.client.BaseURL.String()+issuePath(r, "comments"), err)
}

// markOf is what nobody sees of a comment, by which it is found again.
func markOf(by providers.Worker, result providers.Result) string {
	sum := sha256.Sum256([]byte(by.Agent + "\x00" + by.Session + "\x00" + string(result)))
	return "<!-- git-worklease " + hex.EncodeToString(sum[:8]) + " -->"
}

// commentText is what people see of it.
func commentText(by providers.Worker, result providers.Result) string {
	what := "has finished work on this."
	if result == providers.Reviewing {
		what = "has finished work on this, and it waits for review."
	}
	text := quoted(by.Agent+"/"+by.Session) + " " + what
	if by.Text != "" {
		text += "\n\n" + quoted(by.Text)
	}
	return text
}

// quoted is a name as code, in which nothing has a meaning: no mention of people, no link.
func quoted(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '`' || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return "`" + strings.TrimSpace(s) + "`"
}
