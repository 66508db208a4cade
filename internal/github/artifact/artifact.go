// Package artifact reads the zip archive of a workflow artifact that a stranger
// may have made. It keeps the few files that it was told to expect and refuses
// the archive as a whole for anything else: nothing of an archive that is
// refused reaches the caller or the disk.
//
// It reads the format itself rather than with archive/zip, which tolerates what
// two readers of one archive can disagree about: headers that contradict each
// other, entries that overlap, bytes that belong to none. Here every byte has
// to belong to exactly one part, and both headers of an entry have to agree. It
// opens no archive inside of one, follows no link and takes no size as given.
//
// The format is that of APPNOTE.TXT 6.3.10 (PKWARE), as far as the archives of
// actions/upload-artifact, Info-ZIP and Go's archive/zip use it: stored and
// deflated entries, data descriptors, no zip64.
package artifact

import (
	"fmt"
	"io"
	"slices"
)

// runName is the base name of the files that are always expected.
const runName = "run.json"

// Limits bound what an archive may hold. Zero fields mean those of
// [DefaultLimits].
type Limits struct {
	Archive int64 // bytes of the archive itself
	Total   int64 // bytes of all files together, inflated
	File    int64 // bytes of one file, inflated
	Entries int   // files and folders
	Depth   int   // folders around a file
	Name    int   // bytes of a name with its folders
	// Ratio is how many bytes one byte of the archive may become, above the
	// first MiB of a file. Deflate reaches 1032; run documents come to 8, and to
	// 120 where every cell was skipped for the same reason.
	Ratio int64
}

// DefaultLimits returns the limits for one host's artifact.
func DefaultLimits() Limits {
	return Limits{Archive: 128 << 20, Total: 512 << 20, File: 256 << 20, Entries: 256, Depth: 2, Name: 255, Ratio: 500}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	fill(&l.Archive, d.Archive)
	fill(&l.Total, d.Total)
	fill(&l.File, d.File)
	fill(&l.Entries, d.Entries)
	fill(&l.Depth, d.Depth)
	fill(&l.Name, d.Name)
	fill(&l.Ratio, d.Ratio)
	return l
}

func fill[T int | int64](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}

// Options say what is expected. The zero value is one host's run.json.
type Options struct {
	Limits
	// Names are base names of files that are kept beside [runName], in any
	// folder; letter case counts. Names of archives, such as x.zip, are refused
	// even here.
	Names []string
}

// archive is one whose structure was checked and whose entries were not
// inflated yet.
type archive struct {
	r       io.ReaderAt
	limits  Limits
	expect  []string // base names
	entries []entry
	size    int64 // up to the end record
	end     int64 // of the local entries, where the central directory begins
}

// open checks the structure and the names.
func open(r io.ReaderAt, size int64, o Options) (*archive, error) {
	a := &archive{r: r, limits: o.Limits.orDefault(), expect: append([]string{runName}, o.Names...)}
	if err := a.directory(size); err != nil {
		return nil, err
	}
	if err := a.locals(); err != nil {
		return nil, err
	}
	if err := a.names(); err != nil {
		return nil, err
	}
	return a, a.sizes()
}

// files are the entries that are no folders.
func (a *archive) files() []*entry {
	var files []*entry
	for i := range a.entries {
		if e := &a.entries[i]; !e.folder {
			files = append(files, e)
		}
	}
	return files
}

// sizes refuses by what the headers say, which inflating then holds them to.
func (a *archive) sizes() error {
	var total int64
	for i := range a.entries {
		e := &a.entries[i]
		if err := a.fits(e, e.size); err != nil {
			return err
		}
		if total += e.size; total > a.limits.Total {
			return refusef("its files have more than %d bytes together: give each shard an artifact of its own", a.limits.Total)
		}
	}
	if len(a.files()) == 0 {
		return refusef("it holds no file: %s", next)
	}
	return nil
}

// fits reports whether an entry may have so many bytes.
func (a *archive) fits(e *entry, size int64) error {
	switch {
	case e.folder && size > 0:
		return e.refusef("is a folder with contents: %s", next)
	case size > a.limits.File:
		return e.refusef("has more than %d bytes: give each shard an artifact of its own", a.limits.File)
	case size > freely && size > e.packed*a.limits.Ratio:
		return e.refusef("grows to more than %d times its size: %s", a.limits.Ratio, next)
	}
	return nil
}

// freely is the size below which a file may be compressed at any ratio.
const freely = 1 << 20

// next is what whoever made the archive can do about most refusals.
const next = "upload run.json alone, with actions/upload-artifact"

// Refusal is the error of an archive that must not be used: one line that says
// why and what to do. Of what the archive holds it repeats names only, and of
// those nothing as it is but letters, digits and "./_-".
type Refusal string

// Error returns the line.
func (r Refusal) Error() string { return "archive refused: " + string(r) }

func refusef(format string, args ...any) error { return Refusal(fmt.Sprintf(format, args...)) }

func (e *entry) refusef(format string, args ...any) error {
	return refusef("entry %d, %s, "+format, slices.Concat([]any{e.number, shown(e.name)}, args)...)
}
