package report

import "strings"

// A page is what Markdown and terminal have in common: the parts of a report
// in their order, not yet escaped for either.
type page struct {
	status   status
	sentence inline
	lead     []block // what was compared, the sum, hosts whose speed was not judged
	hosts    block
	action   []block // what needs action; empty if nothing does
	// What does not block, because it is undecided or excused; empty if nothing is.
	undecided, excused []block
	next               []block
	folded             []section
	footer             string
}

// parts are what stands between the hosts and what is folded, in their order.
func (p *page) parts() []section {
	return []section{{"Needs action", p.action}, {"Undecided", p.undecided}, {"Excused", p.excused}, {nextTitle, p.next}}
}

const nextTitle = "Next"

func (p *page) headline() inline { return p.status.headline(p.sentence) }

// section is detail that is folded away where the format can fold.
type section struct {
	title  string // ours
	blocks []block
}

// block is a paragraph, a list, a table or preformatted text.
type block interface {
	markdown(b *strings.Builder)
	terminal(out *printer)
}

type (
	paragraph    inline
	bullets      []inline
	preformatted []string // lines made by excerpt, or commands
	table        struct {
		columns []column
		rows    [][]inline
		total   int  // rows there are; more than len(rows) if some are not shown
		notes   bool // Markdown lists long reasons below the table
	}
	column struct {
		name  string // ours
		right bool
		soft  bool // may be shortened
		spare bool // the first to go where space is short
	}
)

// inline is a piece of a line, span by span.
type inline []span

type span struct {
	kind kind
	text string
	alt  string // the address of a link, or of verbatim text; a status in words
}

type kind int

const (
	ours     kind = iota // written by us, safe as it is
	emphasis             // written by us
	verbatim             // untrusted, shown as code
	prose                // untrusted, shown as text
	shell                // a command, shown as code and never shortened
	address              // a link: our text, untrusted url
	signal               // a status: its sign or its mark
)

func plain(s string) span   { return span{kind: ours, text: s} }
func bold(s string) span    { return span{kind: emphasis, text: s} }
func reason(s string) span  { return span{kind: prose, text: clip(s, maxReason)} }
func command(s string) span { return span{kind: shell, text: visible(s)} }
func state(s status) span   { return span{kind: signal, text: s.sign, alt: s.mark} }

func code(s string) span {
	if strings.Trim(s, " ") == "" {
		return plain("–")
	}
	return span{kind: verbatim, text: name(s)}
}

func link(label, url string) span {
	return span{kind: address, text: label, alt: name(url)}
}

// String is the text without any markup. It is printable, and one line.
func (in inline) String() string {
	var b strings.Builder
	for _, s := range in {
		switch s.kind {
		case signal:
			b.WriteString(s.alt)
		case address:
			b.WriteString(s.text + " " + s.alt)
		default:
			b.WriteString(s.text)
		}
	}
	return b.String()
}

// only is a table cell of one span.
func only(s span) inline { return inline{s} }

var none = only(plain("–"))

// columns makes columns of their names. ">" after a name aligns to the right;
// "~" lets a narrow terminal shorten the column.
func columns(names ...string) []column {
	columns := make([]column, len(names))
	for i, n := range names {
		columns[i] = column{name: strings.TrimRight(n, ">~"), right: strings.HasSuffix(n, ">"), soft: strings.HasSuffix(n, "~")}
	}
	return columns
}
