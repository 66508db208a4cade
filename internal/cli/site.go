package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/site"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

const siteHelp = `Write the history as static pages: an overview of all hosts, a page for each host,
suite and cell, a comparison of any two runs, a badge (badge.svg, badge.json) and
an Atom feed of confirmed regressions (feed.xml). The pages need no server.

Arguments are histories (history-<host label>.jsonl), baselines
(baseline-<host label>.json), run.json files, and folders with any of these. Without
arguments, the folders of the configuration are read.

  accelgate site --out public
  accelgate site --out public baselines history-branch --repository https://github.com/me/repo

It decides nothing: the change points are those of 'accelgate history'. What FOLDER
holds is replaced; a folder with other files is refused.`

func (c *Command) siteCommand() *cobra.Command {
	var o measure.HostOptions
	var s site.Options
	cmd := &cobra.Command{
		Use:   "site --out FOLDER [HISTORY.jsonl|BASELINE.json|RUN.json|FOLDER...]",
		Short: "Write the history as static pages with a badge and a feed",
		Long:  siteHelp,
		Args:  cobra.ArbitraryArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return c.site(cmd.Context(), &o, s, args) },
	}
	f := cmd.Flags()
	addConfig(&o, f)
	addHistory(&o, f)
	f.StringVar(&s.Out, "out", "", "`folder` for the pages (required)")
	f.StringVar(&s.Repository, "repository", "",
		"`address` of the repository, to which commits are linked (default: GITHUB_SERVER_URL/GITHUB_REPOSITORY)")
	f.StringVar(&s.URL, "url", "", "`address` at which the pages will stand, for the links of the feed")
	f.StringVar(&s.Title, "title", "accelgate", "`title` of the pages")
	return cmd
}

func (c *Command) site(ctx context.Context, o *measure.HostOptions, s site.Options, arguments []string) error {
	if s.Out == "" {
		return exit.Usagef("--out is empty: name a folder for the pages, as in 'accelgate site --out public'")
	}
	if server, repository := c.Getenv("GITHUB_SERVER_URL"), c.Getenv("GITHUB_REPOSITORY"); s.Repository == "" && server != "" &&
		repository != "" {
		s.Repository = server + "/" + repository
	}
	if len(arguments) == 0 {
		var err error
		if arguments, err = site.Folders(c.env(), o); err != nil {
			return err
		}
	}
	s.Now, s.Tool = c.Now(), measure.Tool()
	built, err := site.Build(ctx, arguments, s)
	if err != nil {
		return err
	}
	c.warnAll(built.Warnings)
	_, err = fmt.Fprintf(c.Stdout, "%s: %s, %s, %s\nNext: open %s\n", s.Out, text.Plural(built.Hosts, "host"),
		text.Plural(built.Cells, "cell"), text.Plural(built.Pages, "page"), filepath.Join(s.Out, "index.html"))
	return err
}
