package archtest

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type ban struct{ pattern, instead string }

// banned lists words that comments, messages, scripts and pages do not use, and what they use instead. A blank in a
// pattern is any space, a line end of a comment included.
var banned = []ban{
	{`in turns`, "alternately, or paired"},
	{`kept runs?`, "the history, or earlier runs"},
	{`not well`, "unhealthy"},
	{`reckon(s|ed|ing)?`, "use"},
	{`whose word`, "name the source"},
	{`speaks?|spoken`, "use, or have an API"},
	{`believe[sd]?`, "use, count or ignore"},
}

// bannedOutside are the words that the same texts do not use either, but for those of the unread rooms.
var bannedOutside = []ban{
	{`(no|some)body('s)?`, "name what acts"},
	{`(is|are|was|were|be|been|being) told`, "is reported, is given, is separated"},
	{`tells? of`, "report, list"},
	{`of what`, "name the thing"},
	{`what is no`, "name the thing"},
	{`trusts`, "use, accept"},
	{`honest(ly|y)?`, "plain, correct"},
	{`knows`, "have, read, record, list"},
}

// unread are rooms and pages whose comments still hold words of bannedOutside. Their messages do not.
var unread = []string{
	"internal/action/", "internal/github/", "internal/testing/githubtest/",
}

// bannedInMessages are words that the strings of the programs do not use either. Comments still hold some.
var bannedInMessages = []ban{
	{`tells?`, "report, separate"},
	{`wants`, "use a verb of what the program does"},
	{`what goes wrong`, "mistakes"},
}

// unchecked names files whose words are data.
var unchecked = map[string]bool{
	"internal/archtest/prose_test.go": true,
	"CHANGELOG.md":                    true, // what a version said stays
	"internal/github/artifact.go":     true, // a message of the unread rooms
	// A vocabulary, and prompts.
	"internal/suite/endpoint/dataset/words.go":   true,
	"internal/suite/endpoint/dataset/builtin.go": true,
}

func TestProseIsPlain(t *testing.T) {
	files := 0
	for name, prose := range proses(t, scanner.ScanComments) {
		files++
		refuse(t, banned, name, prose)
		if !slices.ContainsFunc(unread, func(room string) bool { return strings.HasPrefix(name, room) }) {
			refuse(t, bannedOutside, name, prose)
		}
	}
	if files < 500 {
		t.Errorf("%d files were read, want 500 or more", files)
	}
}

// TestMessagesArePlain looks at the strings of what is not a test.
func TestMessagesArePlain(t *testing.T) {
	for name, prose := range proses(t, 0) {
		if filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			refuse(t, slices.Concat(bannedInMessages, bannedOutside), name, prose)
		}
	}
}

func refuse(t *testing.T, list []ban, name, prose string) {
	t.Helper()
	for _, b := range list {
		r := regexp.MustCompile(`(?i)\b(` + strings.ReplaceAll(b.pattern, " ", `[\s/#>]+`) + `)\b`)
		for _, at := range r.FindAllStringIndex(prose, -1) {
			t.Errorf("%s:%d: %q: %s", name, 1+strings.Count(prose[:at[0]], "\n"), prose[at[0]:at[1]], b.instead)
		}
	}
}

// proses returns the words of each file by its path: of Go those in strings and, if mode says so, in comments. Recorded output of programs,
// in testdata, is not ours.
func proses(t *testing.T, mode scanner.Mode) map[string]string {
	t.Helper()
	found := map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		hidden := strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && d.Name() != ".github"
		switch {
		case d.IsDir() && (hidden || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || unchecked[name]:
			return nil
		case filepath.Ext(name) == ".go":
			found[name] = words([]byte(content(t, name)), mode)
		case strings.Contains(".md .txtar .yml", filepath.Ext(name)) && filepath.Ext(name) != "":
			found[name] = content(t, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// words keeps the strings of a Go file, and its comments if mode says so, each on its line.
func words(src []byte, mode scanner.Mode) string {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, nil, mode)
	kept, last := strings.Builder{}, 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return kept.String()
		}
		at := file.Offset(pos)
		if at < last {
			continue // a semicolon that the scanner put in
		}
		kept.WriteString(strings.Repeat("\n", strings.Count(string(src[last:at]), "\n")))
		last = at
		if tok == token.COMMENT || tok == token.STRING {
			kept.WriteString(lit + " ")
			last = at + len(lit)
		}
	}
}
