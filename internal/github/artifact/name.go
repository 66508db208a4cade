package artifact

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// names refuses names that lead elsewhere, that are not expected, or that are
// one file on some systems.
func (a *archive) names() error {
	kinds := map[string]bool{} // by name in lower case: whether it is a file
	for i := range a.entries {
		e := &a.entries[i]
		if why := a.wrong(e); why != "" {
			return e.refusef("%s: %s", why, next)
		}
		name := strings.ToLower(strings.TrimSuffix(e.name, "/"))
		if _, twice := kinds[name]; twice && !(e.folder && !kinds[name]) {
			return e.refusef("occurs twice, letter case aside: %s", next)
		}
		kinds[name] = !e.folder
	}
	for name := range kinds {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if kinds[dir] {
				return refusef("%s is a file and a folder: %s", shown(dir), next)
			}
		}
	}
	return nil
}

// wrong returns what is wrong with a name, or "".
func (a *archive) wrong(e *entry) string {
	if why := unsafeName(e.name); why != "" {
		return why
	}
	folders := strings.Split(strings.TrimSuffix(e.name, "/"), "/")
	base := folders[len(folders)-1]
	if !e.folder {
		folders = folders[:len(folders)-1]
	}
	switch {
	case len(folders) > a.limits.Depth:
		return fmt.Sprintf("is below more than %d folders", a.limits.Depth)
	case e.folder:
		return ""
	case archived(base):
		return "is an archive within the archive"
	case !slices.Contains(a.expect, base):
		return "is not expected"
	}
	return ""
}

// unsafeName returns why a name cannot be one on every system, or "".
func unsafeName(name string) string {
	switch {
	case name == "":
		return "has no name"
	case !utf8.ValidString(name):
		return "has a name that is not UTF-8"
	case strings.ContainsFunc(name, unprintable):
		return "has a control or invisible character in its name"
	case strings.Contains(name, `\`):
		return "has a backslash in its name"
	case strings.HasPrefix(name, "/"):
		return "has an absolute name"
	case len(name) > 1 && name[1] == ':':
		return "has a drive letter in its name"
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(name, "/"), "/") {
		if why := unsafePart(part); why != "" {
			return why
		}
	}
	return ""
}

func unsafePart(part string) string {
	switch {
	case part == "..":
		return "leads out of the archive"
	case part == "" || part == ".":
		return "has an empty part in its name"
	case strings.Trim(part, plain) != "":
		return "has characters other than letters, digits and ._-+= in its name"
	case strings.HasSuffix(part, "."):
		return "has a part of its name that ends in a dot" // Windows drops it
	case reserved(part):
		return "has the name of a device in its name"
	}
	return ""
}

// plain are the characters of names. They leave no two names that a file system
// may take for one but those that differ in letter case.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+="

// unprintable characters are controls, marks that change the direction of text,
// and those without a width.
func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// reserved reports the names that are devices on Windows, whatever follows a
// dot.
func reserved(part string) bool {
	base, _, _ := strings.Cut(strings.ToLower(part), ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (base[:3] == "com" || base[:3] == "lpt") && base[3] >= '0' && base[3] <= '9'
}

// archived reports names of archives, which nobody may be tempted to open.
func archived(base string) bool {
	switch strings.ToLower(path.Ext(base)) {
	case ".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz", ".xz", ".txz", ".zst", ".7z", ".rar", ".jar", ".whl", ".cab", ".iso":
		return true
	}
	return false
}

// shown writes a name for a message: cut, and with everything spelt out that a
// terminal, Markdown or GitHub could read something into.
func shown(name string) string {
	const maximum = 60
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		c := name[i]
		switch {
		case b.Len() > maximum:
			return b.String() + `" (cut)`
		case c == '/' || c == '.' || c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String() + `"`
}
