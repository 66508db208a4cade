package action

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// nameOf returns the name that a configuration gives itself, also if the rest of it
// cannot be read: the error is published under the same check. The file of the checkout
// counts, which is the base's in the job that posts. If a pull request adds the
// configuration, its own file counts, because nothing is judged then.
func (a *action) nameOf(ctx context.Context, path string) string {
	if strings.EqualFold(filepath.Ext(path), ".json") {
		return "" // of another tool
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return config.NameOf(a.brought(ctx, path))
	case err != nil || !info.Mode().IsRegular():
		return "" // a pipe could be read only once
	}
	data, _ := measure.ReadBounded(path) // judging reports the error
	return config.NameOf(data)
}

// brought returns the file of the commit of a pull request of this repository; nil if
// there is none.
func (a *action) brought(ctx context.Context, path string) []byte {
	pr := a.event.PullRequest
	if pr == nil || pr.Fork || a.event.Run != nil || strings.TrimSpace(a.in.options.Secret) == "" {
		return nil
	}
	name, err := a.repositoryPath(path)
	if err != nil {
		return nil
	}
	client, repo, err := a.client()
	if err != nil {
		return nil
	}
	data, err := client.FileAt(ctx, repo, a.commit(), name, measure.MaxConfig)
	if err != nil {
		a.warn(err)
	}
	return data
}

// nameConfiguration keeps what the step publishes apart from that of other
// configurations.
func (a *action) nameConfiguration(name string) {
	if name == "" {
		return
	}
	a.in.name = name
	a.in.checkName += named(name)
	if a.in.historyBranch != "" {
		a.in.historyBranch += "." + name
	}
}

func named(name string) string { return " (" + name + ")" }

// artifactName is the name of an artifact of the called workflow. What begins the name of
// one configuration begins that of no other.
func (a *action) artifactName(of, host string) string {
	if a.in.name == "" {
		return "accelgate-" + of + "-" + host
	}
	return "accelgate-" + of + "." + a.in.name + "." + host
}

// sharedComment is the key of the comment that configurations with names share. Some
// cells, and what a fork measured, have comments of their own.
func (a *action) sharedComment() string {
	_, after, _ := strings.Cut(a.in.checkName, named(a.in.name))
	return "configurations" + after
}

// findComment returns what stands on the pull request of this configuration.
func (a *action) findComment(ctx context.Context, client *github.Client, repo github.Repo, number int) (github.Posted, error) {
	if a.in.name == "" {
		return client.FindComment(ctx, repo, number, a.in.checkName)
	}
	return client.FindSection(ctx, repo, number, a.sharedComment(), a.in.checkName)
}

// writeComment writes the comment, or the section of a configuration with a name.
func (a *action) writeComment(ctx context.Context, client *github.Client, repo github.Repo, number int,
	post github.Post) (github.Comment, error) {
	if a.in.name == "" {
		return client.UpsertComment(ctx, repo, number, a.in.checkName, post)
	}
	heading, body := "## "+a.in.name+"\n\n", post.Body
	post.Body = func(limit int) string {
		if limit < len(heading) {
			return text.Cut(heading, limit)
		}
		return heading + body(limit-len(heading))
	}
	post.Rank = func(state string) int { return gravity[gate.Status(state)] } // the worst verdict first
	return client.UpsertSection(ctx, repo, number, a.sharedComment(), a.in.checkName, post)
}
