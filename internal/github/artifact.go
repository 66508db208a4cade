package github

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// Artifact is an archive that a workflow run left. Who may change the workflow
// made it up, its name included.
type Artifact struct {
	ID      int64
	Name    string
	Size    int64 // of the archive, in bytes
	Expired bool
}

// Artifacts returns the artifacts of a run, at most 5,000.
func (c *Client) Artifacts(ctx context.Context, repo Repo, run int64) ([]Artifact, error) {
	doing := fmt.Sprintf("list the artifacts of run %d of %s", run, repo)
	if err := repo.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	all, err := allPages(func(page gh.ListOptions) ([]*gh.Artifact, *gh.Response, error) {
		found, response, err := c.api.Actions.ListWorkflowRunArtifacts(ctx, repo.Owner, repo.Name, run, &page)
		if err != nil {
			return nil, response, err
		}
		return found.Artifacts, response, nil
	})
	if err != nil {
		return nil, explain(doing, "actions: read", err)
	}
	artifacts := make([]Artifact, 0, len(all))
	for _, a := range all {
		artifacts = append(artifacts, Artifact{a.GetID(), a.GetName(), a.GetSizeInBytes(), a.GetExpired()})
	}
	return artifacts, nil
}

// ErrTooLarge marks the error of a download that is larger than allowed.
var ErrTooLarge = errors.New("it is larger than allowed")

// DownloadArtifact writes the archive of an artifact, a zip file, to w, at most
// maxBytes of it, and returns how many were written. Larger ones are
// [ErrTooLarge], after maxBytes at most. The archive comes from another host,
// which does not get the token. Where GitHub knows the archive's digest, it is
// checked, at the end.
//
// A download that breaks off is begun again; what was written is not written
// twice. What w holds after an error is worth nothing.
func (c *Client) DownloadArtifact(ctx context.Context, repo Repo, id int64, w io.Writer, maxBytes int64) (int64, error) {
	doing := fmt.Sprintf("download artifact %d of %s", id, repo)
	if err := repo.check(); err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	d := download{client: c, repo: repo, id: id, to: w, maximum: maxBytes, sum: sha256.New()}
	_, err := persist(ctx, c, func() (struct{}, error) { return struct{}{}, d.run(ctx) })
	var missing *gh.ErrorResponse
	if errors.As(err, &missing) && status(err) == http.StatusGone {
		return d.written, fmt.Errorf("%s: it has expired: run the job that made it again", doing)
	}
	if err != nil {
		return d.written, explain(doing, "actions: read", err)
	}
	return d.written, nil
}

// download is one DownloadArtifact.
type download struct {
	client  *Client
	repo    Repo
	id      int64
	to      io.Writer
	maximum int64
	sum     hash.Hash // of what was written
	written int64
}

func (d *download) run(ctx context.Context) error {
	var about struct {
		Size   int64  `json:"size_in_bytes"`
		Digest string `json:"digest"`
	}
	path := d.repo.path(fmt.Sprintf("actions/artifacts/%d", d.id))
	if err := d.client.call(ctx, http.MethodGet, path, nil, &about); err != nil {
		return err
	}
	if about.Size > d.maximum {
		return hopeless{fmt.Errorf("%w: %d bytes, of at most %d", ErrTooLarge, about.Size, d.maximum)}
	}
	address, err := d.address(ctx, path+"/zip")
	if err != nil {
		return err
	}
	if err := d.fetch(ctx, address); err != nil {
		return err
	}
	want, known := strings.CutPrefix(about.Digest, "sha256:")
	if got := hex.EncodeToString(d.sum.Sum(nil)); known && !strings.EqualFold(got, want) {
		return hopeless{fmt.Errorf("the archive is not the one that GitHub knows: its digest is %s: run the job that made it again", got)}
	}
	return nil
}

// address asks where the archive is. go-github's own function turns refusals
// into errors without a status.
func (d *download) address(ctx context.Context, path string) (*url.URL, error) {
	request, err := d.client.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{
		Transport:     d.client.api.Client().Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusFound {
		return response.Location()
	}
	return nil, cmp.Or(gh.CheckResponse(response),
		error(hopeless{fmt.Errorf("GitHub answers %q instead of sending to the archive", response.Status)}))
}

// fetch reads the archive without the token. What an earlier attempt wrote is
// skipped: the archive of an artifact never changes.
func (d *download) fetch(ctx context.Context, address *url.URL) error {
	base := d.client.api.BaseURL
	if address.Scheme != "https" && address.Scheme != base.Scheme || address.Host == "" || address.User != nil {
		return hopeless{fmt.Errorf("GitHub sends to an address that is not plain https on host %q", address.Host)}
	}
	sender := d.client.sender
	maximum, began := sender.available(ctx), sender.now()
	if maximum <= 0 {
		return sender.noTime()
	}
	defer func() { sender.spend(sender.now().Sub(began)) }()
	ctx, cancel := context.WithTimeout(ctx, maximum)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return hopeless{errors.New("GitHub sends to an address that cannot be read")}
	}
	foreign := http.Client{Transport: sender.next, CheckRedirect: stayOnHost}
	response, err := foreign.Do(request)
	if err != nil {
		return quiet(err)
	}
	defer response.Body.Close()
	body := timely{response.Body, sender.now, began.Add(maximum)}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the host of the archives, %q, answers %q", address.Host, response.Status)
	}
	if _, err := io.CopyN(io.Discard, body, d.written); err != nil {
		return quiet(err)
	}
	// One byte more than allowed shows that there is more.
	n, err := io.Copy(io.MultiWriter(&capped{d.to, d.maximum - d.written}, d.sum), io.LimitReader(body, d.maximum-d.written+1))
	d.written = min(d.written+n, d.maximum)
	if errors.Is(err, ErrTooLarge) {
		return hopeless{fmt.Errorf("%w: more than %d bytes", ErrTooLarge, d.maximum)}
	}
	return quiet(err)
}

// capped fails at the first byte too many.
type capped struct {
	to   io.Writer
	left int64
}

func (c *capped) Write(p []byte) (int, error) {
	fits := p[:min(int64(len(p)), c.left)]
	n, err := c.to.Write(fits)
	c.left -= int64(n)
	switch {
	case err != nil:
		return n, hopeless{err}
	case len(fits) < len(p):
		return n, ErrTooLarge
	}
	return n, nil
}

// quiet takes the address out of an error: whoever has it may download.
func quiet(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return fmt.Errorf("%s: %w", failed.Op, failed.Err)
	}
	return err
}
