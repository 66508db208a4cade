package site

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// The elements of an Atom feed, RFC 4287.
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string      `xml:"title"`
	ID      string      `xml:"id"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	Title   string     `xml:"title"`
	ID      string     `xml:"id"`
	Updated string     `xml:"updated"`
	Links   []atomLink `xml:"link"`
	Content string     `xml:"content"`
}

// maxEntries is how many regressions the feed has, the newest ones.
const maxEntries = 100

// feed writes the confirmed regressions as feed.xml: changes of level for the worse, and regressions that the newest run
// confirms. An entry keeps its id for as long as host, cell, metric and commit are the same.
func (s *site) feed() error {
	base := ""
	if s.URL != "" {
		base = strings.TrimSuffix(s.URL, "/") + "/"
	}
	f := atomFeed{
		Title:   shown(s.Title),
		ID:      identity("feed", s.URL, s.Repository),
		Author:  "accelgate",
		Updated: s.Now.UTC().Format(time.RFC3339),
		Links:   []atomLink{{"self", base + "feed.xml"}, {"", base + "index.html"}},
	}
	all := s.regressions()
	for i := range all[:min(len(all), maxEntries)] {
		f.Entries = append(f.Entries, s.entry(&all[i], base))
	}
	if len(f.Entries) > 0 {
		f.Updated = f.Entries[0].Updated
	}
	return s.file("feed.xml", func(w io.Writer) error {
		if _, err := io.WriteString(w, xml.Header); err != nil {
			return err
		}
		e := xml.NewEncoder(w)
		e.Indent("", " ")
		return e.Encode(&f)
	})
}

func (s *site) entry(m *levelShift, base string) atomEntry {
	content := fmt.Sprintf("%s of %s on %s changed by %s (p %.1g) between commit %s and commit %s.", shown(m.Metric), shown(m.Cell), m.Host,
		m.Changed, m.P, short(m.After), short(m.Before))
	for _, more := range []string{s.RangeURL(m.After, m.Before), rangeCommand(m.After, m.Before)} {
		if more != "" {
			content += " " + more
		}
	}
	return atomEntry{
		Title:   fmt.Sprintf("%s: %s %s on %s", m.Changed, shown(m.Cell), shown(m.Metric), m.Host),
		ID:      identity(m.Host, m.Cell, m.Metric, m.Before),
		Updated: m.At.UTC().Format(time.RFC3339),
		Links:   []atomLink{{"", base + m.Page}},
		Content: content,
	}
}

// identity is an IRI that stays the same for the same parts: a UUID of a digest (RFC 9562, version 8).
func identity(parts ...string) string {
	b := sha256.Sum256([]byte(fmt.Sprintf("%q", parts)))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
