package linear

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/git-worklease/git-worklease/providers"
)

// Finish notes what has come of the work. Reviewing moves the issue to the team's first started state with "review" in its name; Finished to the first completed one,
// if Options.Close says so. Otherwise there is one comment for each worker and result. A closed issue is left alone.
func (p *Provider) Finish(ctx context.Context, key providers.Key, by providers.Worker, result providers.Result) error {
	b, err := p.begin(ctx, key)
	if err != nil || b.item.State.Closed() {
		return err
	}
	var to *state
	switch {
	case result == providers.Reviewing && isReview(*b.issue.State):
		return nil
	case result == providers.Reviewing:
		to = b.first(isReview)
	case result != providers.Finished:
		return fmt.Errorf("linear: the result %q of %s: %w", result, b.id, providers.ErrUnsupported)
	case p.close:
		if to = b.first(ofType(typeCompleted)); to == nil {
			return fmt.Errorf("linear: the team of %s has no completed state: %w", b.id, providers.ErrUnsupported)
		}
	}
	if to == nil {
		return p.comment(ctx, b, commentID(*b.issue.ID, by, result), commentText(by, result))
	}
	_, err = p.update(ctx, b, map[string]any{"stateId": to.ID})
	return err
}

func isReview(s state) bool {
	return s.Type == typeStarted && strings.Contains(strings.ToLower(s.Name), "review")
}

// comment writes a comment under an identifier of our own, so that there is one however often and by however many processes it is written.
func (p *Provider) comment(ctx context.Context, b *begun, id, body string) error {
	if there, err := p.commented(ctx, b, id); there || err != nil {
		return err
	}
	var answer struct {
		Create *struct {
			Success bool `json:"success"`
		} `json:"commentCreate"`
	}
	what := "the comment on " + b.id.String()
	input := map[string]any{"id": id, "issueId": *b.issue.ID, "body": body}
	faults, err := p.ask(ctx, what, commentDocument, map[string]any{"input": input}, &answer)
	switch {
	case err == nil && len(faults) > 0:
		err = &providers.BrokenError{Where: "linear: " + what, Err: errors.New(p.words(faults))}
	case err == nil && (answer.Create == nil || !answer.Create.Success):
		err = &providers.BrokenError{Where: "linear: " + what, Err: errors.New("it was not made")}
	}
	if !errors.Is(err, providers.ErrBroken) {
		return err
	}
	// Linear takes no identifier twice, so another process may have been first.
	if there, failed := p.commented(ctx, b, id); there && failed == nil {
		return nil
	}
	return err
}

// commented says whether a comment is there.
func (p *Provider) commented(ctx context.Context, b *begun, id string) (bool, error) {
	var answer struct {
		Issue *struct {
			Comments *list[struct{}] `json:"comments"`
		} `json:"issue"`
	}
	what := "the comments of " + b.id.String()
	faults, err := p.ask(ctx, what, commentedDocument, map[string]any{"id": *b.issue.ID, "comment": id}, &answer)
	switch {
	case err != nil:
		return false, err
	case len(faults) > 0:
		return false, &providers.BrokenError{Where: "linear: " + what, Err: errors.New(p.words(faults))}
	case answer.Issue == nil || answer.Issue.Comments == nil:
		return false, &providers.BrokenError{Where: "linear: " + what, Err: errors.New("answered without comments")}
	}
	return len(answer.Issue.Comments.Nodes) > 0, nil
}

// commentID is the identifier of the comment on an issue, by that one's: a UUID of version 4, as Linear has them. Readers don't see it.
func commentID(issue string, by providers.Worker, result providers.Result) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{"git-worklease", issue, by.Agent, by.Session, string(result)}, "\x00")))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// commentText is for people. What the worker says is shown as it is, not as Markdown.
func commentText(by providers.Worker, result providers.Result) string {
	plain := func(s string) string {
		return "`" + strings.Join(strings.Fields(strings.ReplaceAll(s, "`", "'")), " ") + "`"
	}
	text := plain(by.Agent) + " has finished work on this"
	if result == providers.Reviewing {
		text = plain(by.Agent) + " asks for a review of its work on this"
	}
	if by.Text != "" {
		text += ": " + plain(by.Text)
	}
	return text + "."
}
