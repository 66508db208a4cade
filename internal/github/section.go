package github

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read from a comment. It is our own, but people may edit it.
const (
	maxSections     = 512
	maxHost         = 200 // bytes
	maxRevision     = 1 << 20
	maxSectionsSize = 2 << 20 // bytes, unpacked
)

// Section is what one host says in a comment that several hosts share.
type Section struct {
	Host string
	Seq  Seq // of the run that says it
	Text string
	// revision counts what the host said in one run.
	revision int
}

// compare orders what one host said: by run, then by revision, then in any
// fixed way, so that all writers agree which one stays.
func (s Section) compare(other Section) int {
	return cmp.Or(s.Seq.compare(other.Seq), cmp.Compare(s.revision, other.revision), cmp.Compare(s.Text, other.Text))
}

// UpsertSection makes section part of the one comment that carries key, which
// several hosts may write at once: the comment keeps all sections in a hidden
// line, and render makes the text that people see, of at most limit bytes, from
// all of them, sorted by host. Of a host's sections the newest run's stays; if
// that is not the one given, Change is Outdated. The same sections have to be
// rendered alike by all hosts.
//
// Nothing is lost and one comment remains, however many write at once, provided
// that GitHub applies a write within 10 seconds of its sending or never, and
// that no writer is killed. The price is a wait of 21 seconds after the last
// write, and more while others write. A section that is there already costs
// one look.
//
// The sections, compressed, have to leave room in [MaxText] for the text: keep
// each below a kilobyte or so where there are many.
func (c *Client) UpsertSection(ctx context.Context, repo Repo, issue int, key string, section Section,
	render func(sections []Section, limit int) string,
) (Comment, error) {
	section.Text = strings.ToValidUTF8(section.Text, "\uFFFD")
	section.revision = 0
	board := &board{key: key, mine: section, known: map[string]Section{}, render: render}
	if err := errors.Join(repo.check(), checkKey(key), board.check()); err != nil {
		return Comment{}, fmt.Errorf("comment on %s#%d: %w", repo, issue, err)
	}
	p := posting{client: c, repo: repo, issue: issue, key: key, paper: board, settle: true}
	kept, err := p.run(ctx)
	if err != nil {
		return Comment{}, err
	}
	return Comment{ID: kept.id, URL: kept.url, Change: board.outcome(p.change)}, nil
}

// board is the paper of all sections that were ever seen, the newest of each
// host.
type board struct {
	key    string
	mine   Section
	known  map[string]Section
	render func([]Section, int) string
	looked bool
}

func (b *board) check() error {
	switch {
	case b.mine.Host == "" || len(b.mine.Host) > maxHost || !utf8.ValidString(b.mine.Host):
		return fmt.Errorf("%q is no name of a host: give one of 1 to %d bytes", cut(b.mine.Host, 60), maxHost)
	case b.mine.Seq.Run < 0 || b.mine.Seq.Attempt < 0:
		return fmt.Errorf("%s is no run: give its id and attempt", b.mine.Seq)
	case b.render == nil:
		return errors.New("nothing says how sections are shown: give render")
	}
	_, err := unpackSections(packSections([]Section{b.mine}))
	return err
}

func (b *board) learn(found []posted) {
	for _, o := range found {
		sections, err := o.sections()
		if err != nil {
			continue // edited; the hosts that know better write it again
		}
		for _, s := range sections {
			b.add(s)
		}
	}
	if !b.looked {
		b.looked = true
		b.say()
	}
}

func (b *board) add(s Section) {
	if old, there := b.known[s.Host]; !there || s.compare(old) > 0 {
		b.known[s.Host] = s
	}
}

// say adds our own section, after what the host said earlier in this run.
func (b *board) say() {
	old, there := b.known[b.mine.Host]
	if there && old.Seq == b.mine.Seq {
		b.mine.revision = old.revision
		if old.Text != b.mine.Text {
			b.mine.revision++
		}
	}
	b.add(b.mine)
}

func (b *board) sections() []Section {
	all := slices.Collect(maps.Values(b.known))
	slices.SortFunc(all, func(x, y Section) int { return cmp.Compare(x.Host, y.Host) })
	return all
}

// says compares the sections only: another version may render them otherwise,
// and two must not correct each other without end.
func (b *board) says(found posted, _ int) bool {
	there, err := found.sections()
	return err == nil && found.sum != "" && slices.Equal(there, b.sections())
}

func (b *board) text(limit int) (marker, string, error) {
	m := marker{key: b.key, sum: digest("")}
	sections := b.sections()
	for _, s := range sections {
		if s.Seq.compare(m.seq) > 0 {
			m.seq = s.Seq
		}
	}
	packed := packSections(sections)
	if len(sections) > maxSections {
		return m, "", fmt.Errorf("there are more than %d sections: use one comment for fewer hosts", maxSections)
	}
	left := room(limit, m.String(), "\n", packed, "\n")
	if left < 0 {
		return m, "", fmt.Errorf("the sections of %d hosts are %d bytes too long: shorten them", len(sections), -left)
	}
	visible, err := Ladder(func(limit int) string { return b.render(slices.Clone(sections), limit) }).at(left)
	return m, packed + "\n" + visible, err
}

func (b *board) keeps(found []posted, _ int) int { return min(len(found), 1) - 1 }

func (b *board) outcome(done Change) Change {
	switch {
	case b.known[b.mine.Host] != b.mine:
		return Outdated
	case done == "":
		return Unchanged
	}
	return done
}

// packed is a section as it is kept in a comment.
type packed struct {
	Host     string   `json:"host"`
	Seq      [2]int64 `json:"seq"`
	Revision int      `json:"rev,omitempty"`
	Text     string   `json:"text"`
}

const (
	packedStart = "<!-- accelgate sections v=1 "
	packedEnd   = " -->"
)

// packSections returns the hidden line. Base64 has nothing that could end it.
func packSections(sections []Section) string {
	all := make([]packed, len(sections))
	for i, s := range sections {
		all[i] = packed{s.Host, [2]int64{s.Seq.Run, s.Seq.Attempt}, s.revision, s.Text}
	}
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // the level exists
	_ = json.NewEncoder(w).Encode(all)                 // neither strings nor a buffer fail
	_ = w.Close()
	return packedStart + base64.StdEncoding.EncodeToString(b.Bytes()) + packedEnd
}

// sections returns what the first line of a comment's body holds.
func (p posted) sections() ([]Section, error) {
	line, _, _ := strings.Cut(p.body, "\n")
	return unpackSections(strings.TrimRight(line, "\r"))
}

// unpackSections reads the hidden line.
func unpackSections(line string) ([]Section, error) {
	coded, ok := strings.CutPrefix(line, packedStart)
	coded, ended := strings.CutSuffix(coded, packedEnd)
	if !ok || !ended {
		return nil, errors.New("this is no line of sections")
	}
	data, err := base64.StdEncoding.DecodeString(coded)
	if err != nil {
		return nil, fmt.Errorf("read the sections: %w", err)
	}
	limited := &io.LimitedReader{R: flate.NewReader(bytes.NewReader(data)), N: maxSectionsSize + 1}
	text, err := io.ReadAll(limited)
	if err != nil || limited.N <= 0 {
		return nil, fmt.Errorf("unpack the sections: %w", cmp.Or(err, errors.New("they are too large: shorten them")))
	}
	var all []packed
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("read the sections: %w", err)
	}
	return checkSections(all)
}

func checkSections(all []packed) ([]Section, error) {
	sections := make([]Section, 0, len(all))
	hosts := map[string]bool{}
	for _, s := range all {
		section := Section{Host: s.Host, Seq: Seq{s.Seq[0], s.Seq[1]}, Text: s.Text, revision: s.Revision}
		if s.Host == "" || len(s.Host) > maxHost || hosts[s.Host] || s.Seq[0] < 0 || s.Seq[1] < 0 || s.Revision < 0 || s.Revision > maxRevision {
			return nil, fmt.Errorf("the section of %q is malformed", cut(s.Host, 60))
		}
		hosts[s.Host] = true
		sections = append(sections, section)
	}
	if len(sections) > maxSections {
		return nil, fmt.Errorf("there are more than %d sections", maxSections)
	}
	return sections, nil
}
