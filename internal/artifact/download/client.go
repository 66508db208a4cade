// Package download gets models, datasets and files into a cache that several
// processes share: from the Hugging Face hub, or a mirror of it, through its HTTP
// API, and from any URL. What files mean is not known here.
//
// A revision is resolved once, to a commit, and everything is of that commit.
// The listing gives size and digest of each file; a file is in the cache only
// when its bytes have that digest. Of a URL the caller gives the digest. Hub, mirror, content delivery network and
// proxies are strangers otherwise: names, sizes, redirects and answers are
// checked and bounded, and the token goes to the endpoint's own origin alone.
//
// The interface is described at huggingface.co/docs/hub/api and in the hub's
// huggingface.co/.well-known/openapi.json; where that is silent, the client
// github.com/huggingface/huggingface_hub says what the hub does (hf_api.py:
// model_info, file_download.py, utils/_http.py).
package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults and limits.
const (
	defaultEndpoint = "https://huggingface.co"
	defaultRevision = "main"
	defaultLimit    = 256 << 30 // bytes of a cache
	defaultStall    = time.Minute
	MaxInfo         = 32 << 20 // bytes of a listing
	MaxListed       = 100_000  // files of a model
	MaxFiles        = 2_000    // files of one call
)

// Client gets files from one hub into one cache. The zero value of a field is
// its default. A Client may be used concurrently, and by several processes with
// the same Dir.
type Client struct {
	Endpoint string       // of the hub, default defaultEndpoint; http only without a token, or to this machine
	Token    string       // sent to the endpoint's origin only; never part of an error
	HTTP     *http.Client // its redirects are followed here; default &http.Client{}
	Dir      string       // the cache, made if it is missing; it must be given
	Offline  bool         // send nothing: what the cache lacks is an error
	Limit    int64        // bytes that the cache may hold, default DefaultLimit; what was used longest ago is evicted
	MaxBytes int64        // largest sum of the files of one call, default Limit
	Holds    *Holds       // keep from eviction what the calls return; nil keeps nothing
	Reread   bool         // compare the files that the cache has with their digests again

	// Progress is called by the goroutine of Fetch while a file arrives, every
	// megabyte or so and at its end.
	Progress func(Progress)
	// Stall is how long a server may send nothing before its connection is
	// given up and tried again, default DefaultStall.
	Stall time.Duration
	// Sleep waits between attempts; default by the clock.
	Sleep func(context.Context, time.Duration) error
}

// Progress is how far a call is, in bytes. Done falls when a server makes a file
// start again.
type Progress struct {
	File             string // name in the model
	FileDone         int64
	FileSize         int64
	Done, TotalBytes int64 // of all files of the call, those of the cache among them
}

// Format prints a client without its token, whatever the verb.
func (c Client) Format(w fmt.State, _ rune) {
	fmt.Fprintf(w, "hub client of %q with cache %q", cmp.Or(c.Endpoint, defaultEndpoint), c.Dir)
}

// Fetch returns the folder in the cache that has the files of a model that want
// accepts (nil: all), getting those that are missing. id is "name" or
// "owner/name", and of a dataset "datasets/owner/name"; revision is a branch, a tag or a commit, default "main". The
// folder is named by the commit, so that filepath.Base(folder) pins further
// calls. Its files are shared with the cache and must not be changed; files
// that earlier calls wanted are there as well. want may be called more than
// once for a name.
//
// If revision is a whole commit and the cache has all, nothing is sent. Files
// whose digest was checked when they came are not read again. After an error,
// and after a kill, the next call goes on where the last one was: partial files
// stay under their digest. Errors do not name the token or addresses of the
// content delivery network, which hold signatures.
//
// The hub serves files above 50 GB by its protocol xet only, which is not
// used here (huggingface_hub, constants.py: MAX_HTTP_DOWNLOAD_SIZE).
func (c *Client) Fetch(ctx context.Context, id, revision string, want func(name string) bool) (folder string, err error) {
	f, err := c.prepare(id, cmp.Or(revision, defaultRevision), want)
	if err == nil {
		folder, err = f.run(ctx)
	}
	if err != nil {
		return "", c.scrub(fmt.Errorf("get %.100q: %w", id, err))
	}
	return folder, nil
}

// scrub takes the token out of an error, should a server have echoed it in
// something that an error quotes.
func (c *Client) scrub(err error) error {
	if text := err.Error(); c.Token != "" && strings.Contains(text, c.Token) {
		return errors.New(strings.ReplaceAll(text, c.Token, "***"))
	}
	return err
}

// New returns a client as the environment wants it. dir is the cache, "" for that of
// the environment, which is else below the user's own caches.
func New(getenv func(string) string, dir string) (*Client, error) {
	c := &Client{Endpoint: getenv("HF_ENDPOINT"), Token: strings.TrimSpace(getenv("HF_TOKEN")), Dir: dir,
		Offline: isSet(getenv("HF_HUB_OFFLINE")) || isSet(getenv(offlineVariable))}
	if c.Dir == "" {
		c.Dir = getenv(CacheVariable)
	}
	if c.Dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("find a folder to keep models in: %w: name one with %s", err, CacheVariable)
		}
		c.Dir = filepath.Join(user, "accelgate", "hub")
	}
	if text := getenv(limitVariable); text != "" {
		gib, err := strconv.ParseInt(text, 10, 64)
		if err != nil || gib < 1 || gib > maxGiB {
			return nil, fmt.Errorf("%s is %.40q: write whole gibibytes, 1 to %d", limitVariable, text, maxGiB)
		}
		c.Limit = gib << 30
	}
	return c, nil
}

// The variables that New reads besides those of the hub's own clients.
const (
	CacheVariable   = "ACCELGATE_CACHE"
	offlineVariable = "ACCELGATE_OFFLINE"
	limitVariable   = "ACCELGATE_CACHE_GIB"
	maxGiB          = 1 << 20 // limit of a cache
)

func isSet(value string) bool {
	return slices.Contains([]string{"1", "ON", "YES", "TRUE"}, strings.ToUpper(value))
}

// Snapshot is the folder in the cache that Fetch returns for a commit.
func (c *Client) Snapshot(id, commit string) string {
	of := newCache(c.Dir, id)
	return of.folder(commit)
}
