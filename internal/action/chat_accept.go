package action

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/reference/waiver"
)

// waiverBranch begins the names of the branches that add waivers. Each waiver
// has its own, so that one can be merged without another.
const waiverBranch = "accelgate/waiver-"

// acceptCell proposes a waiver in a pull request: what is accepted is reviewed as
// baselines are.
func (t talk) acceptCell(ctx context.Context, words []string) (string, error) {
	const form = "write `/accelgate accept CELL METRIC CEILING DAYS REASON`, as in `/accelgate accept attn/bf16 latency_ms 10% 14 waiting for the driver`"
	if len(words) < 5 {
		return "", fmt.Errorf("accept needs five things: %s", form)
	}
	days, err := strconv.Atoi(words[3])
	if err != nil || days < 1 || days > waiver.MaxDays {
		return "", fmt.Errorf("%s is not a number of days from 1 to %d: %s", quoteCode(words[3]), waiver.MaxDays, form)
	}
	ceiling, err := waiver.ParseCeiling(words[2])
	if err != nil {
		return "", quoted(fmt.Errorf("ceiling: %w", err))
	}
	if err := t.checkNames(ctx, words[0], words[1]); err != nil {
		return "", err
	}
	today := waiver.DateOf(t.Now())
	entry := waiver.Entry{
		Cell:    words[0],
		Metric:  words[1],
		Ceiling: ceiling,
		Expires: today + waiver.Date(days),
		Reason:  strings.Join(words[4:], " "),
		By:      t.event.Comment.Author,
		Issue:   fmt.Sprintf("%s/%s/pull/%d", t.event.ServerURL, t.event.Repository(), t.event.Comment.Issue),
	}
	path, data, err := t.waived(entry, today)
	if err != nil {
		return "", quoted(err)
	}
	return t.proposeWaiver(ctx, entry, path, data)
}

// waived returns the waivers' file with one more, and its path in the
// repository. The file is this checkout's, which is the base branch's.
func (t talk) waived(entry waiver.Entry, today waiver.Date) (path string, data []byte, err error) {
	file, _, err := t.Env.Load(&t.in.options)
	if err != nil {
		return "", nil, err
	}
	name := file.Resolve(cmp.Or(file.Policy.Waivers, waiver.FileName))
	before, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("read the waivers: %w: correct policy.waivers in the configuration", err)
	}
	if path, err = t.repositoryPath(name); err != nil {
		return "", nil, err
	}
	data, err = waiver.Add(path, before, entry, today)
	return path, data, err
}

func (t talk) proposeWaiver(ctx context.Context, entry waiver.Entry, path string, data []byte) (string, error) {
	sum := sha256.Sum256([]byte(strings.TrimPrefix(t.in.name+"\x00"+entry.Cell+"\x00"+entry.Metric, "\x00")))
	body := fmt.Sprintf(
		"%s asks in #%d to accept %s of %s, worse by at most %g %%, until %s.\n\nReason: %s\n\nThe waiver counts once this is merged into the branch that "+
			"the pull request goes into. A regression beyond the ceiling still blocks, and wrong answers always do.\n",
		quoteCode(t.event.Comment.Author), t.event.Comment.Issue, quoteCode(entry.Metric), quoteCode(entry.Cell), entry.Ceiling,
		entry.Expires, quoteCode(entry.Reason))
	title := fmt.Sprintf("Accept a regression until %s (#%d)", entry.Expires, t.event.Comment.Issue)
	pull, err := t.client.OpenRefresh(ctx, t.repo, github.Refresh{
		Branch: fmt.Sprintf("%s%x", waiverBranch, sum[:6]), Title: title, Body: github.Fixed(body), Files: map[string][]byte{path: data},
		Labels: t.in.labels, Reviewers: t.in.reviewers,
		Describe: func(others []github.Proposed, complete bool) (string, github.Ladder) {
			return title, after(otherHostFiles(others, complete), github.Fixed(body))
		},
	})
	switch {
	case err != nil:
		return "", quoted(err)
	case pull.Number == 0:
		return "This waiver is there already.", nil
	}
	return fmt.Sprintf("#%d adds the waiver; it counts once it is merged.", pull.Number), nil
}
