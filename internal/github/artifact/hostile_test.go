package artifact_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/github/artifact"
)

// run is a document that is not what these tests are about.
const run = `{"schema": 1}`

var small = artifact.Limits{Archive: 1 << 20, Total: 3 << 20, File: 2 << 20, Entries: 8}

// hostile are archives that each must be refused, with a part of the reason.
var hostile = []struct {
	name, want string
	build      func() []byte
}{
	// The archive as a whole.
	{"nothing", "not a zip archive", func() []byte { return nil }},
	{"JSON in place of an archive", "cut short", func() []byte { return []byte(strings.Repeat(run, 10)) }},
	{"cut short", "cut short", func() []byte { return runOnly(run)[:60] }},
	{"no entry", "holds no file", func() []byte { return archive() }},
	{"data before it", "before, between or after", func() []byte { return append([]byte("#!/bin/sh\n"), runOnly(run)...) }},
	{"data before it, offsets corrected", "overlaps another one, or data stands before it",
		func() []byte {
			return built{before: "#!/bin/sh\n", items: []item{{name: "run.json", data: run}}}.bytes()
		}},
	{"data after it", "data follows it", func() []byte { return built{after: "tail", items: []item{{name: "run.json"}}}.bytes() }},
	{"two archives", "before, between or after", func() []byte { return concat(runOnly("{}"), runOnly(run)) }},
	{"a comment", "has a comment", func() []byte {
		return built{items: []item{{name: "run.json"}}, end: put(20, 2, 0x0101)}.bytes()
	}},
	{"a comment that is an archive", "before, between or after", func() []byte {
		inner := runOnly(run)
		return built{items: []item{{name: "run.json"}}, end: put(20, 2, len(inner)), after: string(inner)}.bytes()
	}},
	{"data between entries", "data stands before it",
		func() []byte { return archive(item{name: "a/run.json"}, item{name: "b/run.json", gap: "hidden"}) }},
	{"data before the directory", "between its last entry and its directory",
		func() []byte { return built{items: []item{{name: "run.json"}}, between: "hidden"}.bytes() }},
	{"an entry that the directory does not have", "data stands before it",
		func() []byte { return archive(item{name: "b/run.json", gap: string(runOnly(run))[:60]}) }},
	{"more entries than the directory has", "is not in its directory", func() []byte {
		return built{items: []item{{name: "run.json"}}, end: func(b []byte) { put(8, 2, 2)(b); put(10, 2, 2)(b) }}.bytes()
	}},
	{"fewer entries than the directory has", "holds more than its 1 entries", func() []byte {
		return built{items: []item{{name: "a/run.json"}, {name: "b/run.json"}}, end: func(b []byte) { put(8, 2, 1)(b); put(10, 2, 1)(b) }}.bytes()
	}},
	{"several disks", "one part of several", func() []byte { return built{items: []item{{name: "run.json"}}, end: put(4, 2, 1)}.bytes() }},
	{"an entry on another disk", "another disk", func() []byte { return archive(item{name: "run.json", central: put(34, 2, 1)}) }},
	{"a large archive", "more than 1048576 bytes", func() []byte { return built{before: strings.Repeat("x", 1<<20)}.bytes() }},
	{"many entries", "more than 8", func() []byte {
		var items []item
		for _, c := range "abcdefghi" {
			items = append(items, item{name: string(c) + "/run.json"})
		}
		return archive(items...)
	}},
	{"a directory of 60 KiB for one entry", "bytes for 1 entries", func() []byte {
		return archive(item{name: "run.json", comment: strings.Repeat("x", 60_000)})
	}},

	// zip64.
	{"zip64: a locator", "zip64", func() []byte { return built{items: []item{{name: "run.json"}}, locator: true}.bytes() }},
	{"zip64: 65,535 entries", "zip64", func() []byte { return built{items: []item{{name: "run.json"}}, end: put(8, 4, 0xffffffff)}.bytes() }},
	{"zip64: sizes elsewhere", "zip64", func() []byte {
		return archive(item{name: "run.json", central: put(24, 4, 0xffffffff), extra: concat(number(2, 1), number(2, 8), number(8, 1<<60))})
	}},
	{"zip64: a size in an extra field that says another one", "zip64",
		func() []byte {
			return archive(item{name: "run.json", extra: concat(number(2, 1), number(2, 8), number(8, 5))})
		}},
	{"zip64: an offset elsewhere", "zip64", func() []byte { return archive(item{name: "run.json", central: put(42, 4, 0xffffffff)}) }},

	// Two entries that share bytes.
	{"two entries of one file", "overlaps", func() []byte {
		return archive(item{name: "a/run.json", data: run}, item{name: "b/run.json", data: run, at: func(uint32) uint32 { return 0 }})
	}},
	{"an entry that quotes the next one", "overlaps", func() []byte {
		inner := item{name: "b/run.json", data: run}
		var quoted bytes.Buffer
		inner.write(&quoted)
		return archive(item{name: "a/run.json", data: quoted.String(), stored: true},
			item{name: "b/run.json", data: run, at: func(own uint32) uint32 { return own - uint32(quoted.Len()) }})
	}},
	{"an entry that reaches into the directory", "reaches into the directory",
		func() []byte {
			return archive(item{name: "run.json", stored: true, local: put(18, 8, 0x3000000030), central: put(20, 8, 0x3000000030)})
		}},
	{"no room for a header", "reaches into the directory", func() []byte {
		central := item{name: "run.json"}.write(new(bytes.Buffer))
		end := concat(number(4, 0x06054b50), number(4, 0), number(2, 1), number(2, 1), number(4, len(central)), number(4, 20), number(2, 0))
		return concat([]byte("PK\x03\x04"), make([]byte, 16), central, end)
	}},
	{"an offset that leads nowhere", "overlaps", func() []byte { return archive(item{name: "run.json", at: func(uint32) uint32 { return 1 << 30 }}) }},

	// Two headers that disagree.
	{"another name in its own header", "another one in its own header", func() []byte { return archive(item{name: "run.json", localName: "run.exe1"}) }},
	{"another method in its own header", "another one in its own header", func() []byte { return archive(item{name: "run.json", local: put(8, 2, 0)}) }},
	{"another size in its own header", "another one in its own header", func() []byte { return archive(item{name: "run.json", data: run, local: put(22, 4, 1)}) }},
	{"other flags in its own header", "another one in its own header", func() []byte { return archive(item{name: "run.json", local: put(6, 2, 1)}) }},
	{"a descriptor with another checksum", "a descriptor that contradicts",
		func() []byte { return archive(item{name: "run.json", data: run, descriptor: put(4, 4, 1)}) }},
	{"no header of its own", "no header of its own", func() []byte { return archive(item{name: "run.json", local: put(0, 4, 0)}) }},

	// Sizes.
	{"a bomb", "grows to more than 500 times", func() []byte { return runOnly(strings.Repeat(" ", 1900<<10)) }},
	{"a bomb that says it is small", "more bytes than it declares", func() []byte {
		small := func(b []byte, at int) { put(at, 4, 10)(b) }
		return archive(item{name: "run.json", data: strings.Repeat(" ", 5<<20), local: func(b []byte) { small(b, 22) }, central: func(b []byte) { small(b, 24) }})
	}},
	{"a large file", "more than 2097152 bytes", func() []byte { return runOnly(strings.Repeat(" ", 3<<20)) }},
	{"large files together", "bytes together", func() []byte {
		mib := strings.Repeat(" ", 1<<20)
		return archive(item{name: "a/run.json", data: mib}, item{name: "b/run.json", data: mib}, item{name: "c/run.json", data: mib}, item{name: "d/run.json", data: mib})
	}},
	{"fewer bytes than it declares", "fewer bytes than it declares", func() []byte {
		return archive(item{name: "run.json", data: run, local: put(22, 4, 100), central: put(24, 4, 100)})
	}},
	{"stored with two sizes", "two sizes", func() []byte {
		return archive(item{name: "run.json", data: run, stored: true, local: put(22, 4, 100), central: put(24, 4, 100)})
	}},
	{"data after the deflated contents", "data after its contents",
		func() []byte {
			return archive(item{name: "run.json", data: run, packed: append(deflate(run), "hidden"...)})
		}},
	{"contents that are not deflated", "is damaged", func() []byte { return archive(item{name: "run.json", data: run, packed: []byte("\xff\xff\xff\xff")}) }},
	{"contents that end early", "is damaged", func() []byte { return archive(item{name: "run.json", data: run, packed: deflate(run)[:5]}) }},
	{"a wrong checksum", "the checksum", func() []byte {
		return archive(item{name: "run.json", data: run, local: put(14, 4, 1), central: put(16, 4, 1)})
	}},

	// What entries are.
	{"a symbolic link", "is a link", func() []byte { return archive(item{name: "run.json", data: "/etc/passwd", attributes: 0o120777 << 16}) }},
	{"a link of Windows", "is a link", func() []byte { return archive(item{name: "run.json", attributes: 0x400}) }},
	{"a device", "not a plain file", func() []byte { return archive(item{name: "run.json", attributes: 0o020666 << 16}) }},
	{"a pipe", "not a plain file", func() []byte { return archive(item{name: "run.json", attributes: 0o010666 << 16}) }},
	{"a socket", "not a plain file", func() []byte { return archive(item{name: "run.json", attributes: 0o140666 << 16}) }},
	{"a folder by its mode alone", "not a plain file", func() []byte { return archive(item{name: "run.json", attributes: 0o040755 << 16}) }},
	{"a folder by its DOS attribute alone", "not a plain file", func() []byte { return archive(item{name: "run.json", attributes: 0x10}) }},
	{"a file by its mode and a folder by its name", "not a plain file", func() []byte { return archive(item{name: "run.json/", attributes: 0o100644 << 16}) }},
	{"a program with its owner's rights", "special mode 4755", func() []byte { return archive(item{name: "run.json", attributes: 0o104755 << 16}) }},
	{"a folder with contents", "folder with contents", func() []byte { return archive(item{name: "a/", data: run}, item{name: "run.json"}) }},
	{"folders alone", "holds no file", func() []byte { return archive(item{name: "a/", stored: true}) }},
	{"an encrypted entry", "is encrypted", func() []byte { return archive(item{name: "run.json", central: put(8, 2, 1), local: put(6, 2, 1)}) }},
	{"a strongly encrypted entry", "is encrypted", func() []byte { return archive(item{name: "run.json", central: put(8, 2, 1<<6|1)}) }},
	{"masked headers", "is encrypted", func() []byte { return archive(item{name: "run.json", central: put(8, 2, 1<<13)}) }},
	{"an entry that is a patch", "not known", func() []byte { return archive(item{name: "run.json", central: put(8, 2, 1<<5)}) }},
	{"another method", "compressed by method 14", func() []byte { return archive(item{name: "run.json", central: put(10, 2, 14)}) }},
	{"a newer version", "needs version 6.3", func() []byte { return archive(item{name: "run.json", central: put(6, 2, 63)}) }},
	{"a comment on an entry", "has a comment", func() []byte { return archive(item{name: "run.json", comment: "hidden"}) }},
	{"another name in an extra field", "extra field 0x7075",
		func() []byte {
			return archive(item{name: "run.json", extra: concat(number(2, 0x7075), number(2, 8), []byte("\x01crc.run"))})
		}},
	{"AES in an extra field", "extra field 0x9901", func() []byte {
		return archive(item{name: "run.json", extra: concat(number(2, 0x9901), number(2, 1), []byte("x"))})
	}},
	{"an extra field that is cut short", "cut short", func() []byte { return archive(item{name: "run.json", extra: concat(number(2, 0x5455), number(2, 50))}) }},

	// Archives within.
	{"an archive in an archive", "archive within the archive", func() []byte { return archive(item{name: "runs.zip", data: string(runOnly(run))}) }},
	{"an archive that is expected by name", "archive within the archive", func() []byte { return archive(item{name: "traces.zip", data: string(runOnly(run))}) }},
	{"an archive called run.json", "archive within the archive", func() []byte { return runOnly(string(runOnly(run))) }},
	{"a tar called run.json", "archive within the archive", func() []byte {
		return runOnly(strings.Repeat("\x00", 257) + "ustar\x0000" + strings.Repeat("\x00", 300))
	}},
	{"an archive that holds itself by name", "archive within the archive", func() []byte { return archive(item{name: "r/r.zip", data: "r/r.zip"}) }},

	// Names.
	{"traversal", "leads out", func() []byte { return archive(item{name: "../run.json"}) }},
	{"traversal inside", "leads out", func() []byte { return archive(item{name: "a/../../run.json"}) }},
	{"an absolute name", "absolute", func() []byte { return archive(item{name: "/tmp/run.json"}) }},
	{"a backslash", "backslash", func() []byte { return archive(item{name: `..\run.json`}) }},
	{"a drive letter", "drive letter", func() []byte { return archive(item{name: "C:run.json"}) }},
	{"a stream of NTFS", "characters other than", func() []byte { return archive(item{name: "run.json:x"}) }},
	{"NUL", "control", func() []byte { return archive(item{name: "run.json\x00.exe"}) }},
	{"an escape sequence", "control", func() []byte { return archive(item{name: "\x1b[2J/run.json"}) }},
	{"a command to the runner", "control", func() []byte { return archive(item{name: "\n::error::x\n/run.json"}) }},
	{"text in the other direction", "invisible", func() []byte { return archive(item{name: "\u202enosj.nur/run.json"}) }},
	{"a character without width", "invisible", func() []byte { return archive(item{name: "a\u200b/run.json"}) }},
	{"no UTF-8", "not UTF-8", func() []byte { return archive(item{name: "\xff\xfe/run.json"}) }},
	{"a letter that looks like another", "characters other than", func() []byte { return archive(item{name: "run.jsоn"}) }},
	{"one name in two letter cases", "occurs twice", func() []byte { return archive(item{name: "A/run.json"}, item{name: "a/run.json"}) }},
	{"one name twice", "occurs twice", func() []byte { return archive(item{name: "run.json", data: "{}"}, item{name: "run.json", data: run}) }},
	{"a file that is a folder", "a file and a folder", func() []byte { return archive(item{name: "run.json"}, item{name: "run.json/run.json"}) }},
	{"a folder that is a file", "occurs twice", func() []byte { return archive(item{name: "run.json/", stored: true}, item{name: "run.json"}) }},
	{"three folders", "more than 2 folders", func() []byte { return archive(item{name: "a/b/c/run.json"}) }},
	{"a long name", "more than 255 bytes", func() []byte { return archive(item{name: strings.Repeat("a", 300) + "/run.json"}) }},
	{"an empty part", "empty part", func() []byte { return archive(item{name: "a//run.json"}) }},
	{"a part that is a dot", "empty part", func() []byte { return archive(item{name: "./run.json"}) }},
	{"a dot at the end", "ends in a dot", func() []byte { return archive(item{name: "a./run.json"}) }},
	{"a device of Windows", "device", func() []byte { return archive(item{name: "con.x/run.json"}) }},
	{"no name", "no name", func() []byte { return archive(item{name: ""}) }},
	{"a mention and a link", "characters other than", func() []byte { return archive(item{name: "@octocat ![x](http://evil.example)<b>/run.json"}) }},
	{"a file that nobody expects", "is not expected", func() []byte { return archive(item{name: "run.json", data: run}, item{name: ".github-workflow.yml"}) }},
	{"RUN.JSON", "is not expected", func() []byte { return archive(item{name: "RUN.JSON"}) }},
}

// TestHostileArchivesLeaveNoTrace: each is refused by both ways of reading, in
// one line that repeats nothing of it, and nothing is written.
func TestHostileArchivesLeaveNoTrace(t *testing.T) {
	t.Parallel()
	if len(hostile) < 40 {
		t.Fatalf("%d cases, want 40 or more", len(hostile))
	}
	o := artifact.Options{Limits: small, Names: []string{"traces.zip"}}
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data, dir := c.build(), private(t)
			files, err := read(data, o)
			isRefusal(t, err, c.want)
			names, extractErr := artifact.Extract(bytes.NewReader(data), int64(len(data)), dir, o)
			isRefusal(t, extractErr, c.want)
			if files != nil || names != nil || below(t, dir) != nil {
				t.Errorf("left %d files, the names %q and %q in the folder", len(files), names, below(t, dir))
			}
		})
	}
}

func isRefusal(t *testing.T, err error, want string) {
	t.Helper()
	if _, ok := errors.AsType[artifact.Refusal](err); !ok || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want a refusal with %q", err, want)
		return
	}
	text := err.Error()
	harmless := func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune("@#<>[]*|`!$&", r) }
	if strings.ContainsFunc(text, harmless) || len(text) > 400 {
		t.Errorf("refusal %q holds more than plain text", text)
	}
	if !strings.Contains(text, ": upload") && !strings.Contains(text, ": give each shard") {
		t.Errorf("refusal %q says no next step", text)
	}
}
