package interchange_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// elements are those of junit-10.xsd that a document may have: their attributes, required
// ones first with a "!", and below "/" the elements in them.
var elements = map[string]struct{ attributes, children []string }{
	"":           {nil, []string{"testsuites"}},
	"testsuites": {[]string{"name", "time", "tests", "failures", "errors", "disabled"}, []string{"testsuite"}},
	"testsuite": {[]string{"!name", "!tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package", "disabled"},
		[]string{"properties", "testcase", "system-out", "system-err"}},
	"testcase":   {[]string{"!name", "!classname", "time", "status", "assertions"}, []string{"skipped", "error", "failure", "system-out", "system-err"}},
	"skipped":    {[]string{"message", "type"}, nil},
	"error":      {[]string{"message", "type"}, nil},
	"failure":    {[]string{"message", "type"}, nil},
	"system-out": {nil, nil},
}

// passing reports whether a command with the decision exits with 0.
func passing(r report.Report) bool {
	d := r.Head().Decision
	return d.Code() == 0
}

// readJUnit checks elements and attributes by the schema, the sums, and that exactly the
// cells that block fail, and the decision with them.
func readJUnit(t testing.TB, document []byte, r report.Report) {
	t.Helper()
	d, open := xml.NewDecoder(bytes.NewReader(document)), []string{""}
	count, sums, decision := map[string]int{}, map[string]int{}, ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%.2000s", err, document)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if !slices.Contains(elements[open[len(open)-1]].children, e.Name.Local) {
				t.Fatalf("%s in %s", e.Name.Local, open)
			}
			open = append(open, e.Name.Local)
			attributes := attributesOf(t, e)
			count[e.Name.Local]++
			if e.Name.Local == "testsuite" {
				for _, name := range []string{"tests", "failures", "errors", "skipped"} {
					n, _ := strconv.Atoi(attributes[name])
					sums[name] += n
				}
			}
			if e.Name.Local == "testcase" {
				decision = attributes["name"] + " passed"
			} else if e.Name.Local == "failure" {
				decision = strings.TrimSuffix(decision, " passed")
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
	if sums["tests"] != count["testcase"] || sums["failures"] != count["failure"] || sums["errors"] != count["error"] || sums["skipped"] != count["skipped"] {
		t.Errorf("attributes %v, elements %v", sums, count)
	}
	_, failing := blocked(r)
	passes := passing(r)
	if !passes {
		failing++
	}
	if count["failure"]+count["error"] != failing || passes != (decision == "decision passed") {
		t.Errorf("%v with the decision %q, want %d that fail", count, decision, failing)
	}
}

func attributesOf(t testing.TB, e xml.StartElement) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, a := range e.Attr {
		found[a.Name.Local] = a.Value
		if !slices.ContainsFunc(elements[e.Name.Local].attributes, func(name string) bool { return strings.TrimPrefix(name, "!") == a.Name.Local }) {
			t.Errorf("%s has the attribute %s", e.Name.Local, a.Name.Local)
		}
	}
	for _, name := range elements[e.Name.Local].attributes {
		if required, ok := strings.CutPrefix(name, "!"); ok && found[required] == "" {
			t.Errorf("%s lacks %s", e.Name.Local, required)
		}
	}
	return found
}

// sarifSchema is OASIS' schema, which go-sarif has in its source. Its own Validate checks
// what it writes itself, with defaults that the schema refuses.
var sarifSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3").Output()
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "pkg", "report", "v210", "sarif", "schema.go"), nil, 0)
	if err != nil {
		return nil, err
	}
	literal, err := strconv.Unquote(file.Decls[0].(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
	if err != nil {
		return nil, err
	}
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(literal))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("sarif.json", parsed); err != nil {
		return nil, err
	}
	return compiler.Compile("sarif.json")
})

func TestSchemaRefuses(t *testing.T) {
	schema, err := sarifSchema()
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range []string{`{"runs": []}`, `{"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]}`, `{"version": "2.1.0", "runs": [], "more": 1}`} {
		parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
		if err != nil || schema.Validate(parsed) == nil {
			t.Errorf("%s is valid (%v)", document, err)
		}
	}
}

// readSARIF validates a document, and checks that each verdict that blocks is an error
// with a fingerprint of its own, and that each location is a relative reference or a file.
func readSARIF(t testing.TB, document []byte, r report.Report) {
	t.Helper()
	log, err := sarif.FromBytes(document)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := sarifSchema()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err := errors.Join(err, schema.Validate(parsed)); err != nil {
		t.Errorf("%v in\n%.2000s", err, document)
	}
	errs, fingerprints := 0, map[string]bool{}
	for _, res := range log.Runs[0].Results {
		if res.Level == "error" {
			errs++
		}
		fingerprints[res.PartialFingerprints["primaryLocationLineHash"]] = true
		if rule := log.Runs[0].Tool.Driver.Rules[res.RuleIndex]; *rule.ID != *res.RuleID {
			t.Errorf("rule %s has the index of %s", *res.RuleID, *rule.ID)
		}
		for _, l := range res.Locations {
			u, err := url.Parse(*l.PhysicalLocation.ArtifactLocation.URI)
			if err != nil || u.Scheme != "" && u.Scheme != "file" || u.Host != "" || u.RawQuery != "" || u.Fragment != "" {
				t.Errorf("the URI %q: %v", *l.PhysicalLocation.ArtifactLocation.URI, err)
			}
		}
	}
	verdicts, _ := blocked(r)
	if want := len(listedIn(r)); len(log.Runs[0].Results) != want && len(log.Runs[0].Results) != want+1 {
		t.Errorf("%d results of %d findings that are not unchanged", len(log.Runs[0].Results), want)
	}
	if passes := passing(r); errs != verdicts && (passes || verdicts > 0 || errs != 1) {
		t.Errorf("%d errors for %d verdicts that block", errs, verdicts)
	}
	if len(fingerprints) != len(log.Runs[0].Results) {
		t.Errorf("%d fingerprints of %d results", len(fingerprints), len(log.Runs[0].Results))
	}
}

// listedIn are the findings that are not unchanged, cell by cell.
func listedIn(r report.Report) (list []report.Finding) {
	for c := range r.Cells() {
		for _, f := range c.Findings {
			if f.Listed {
				list = append(list, f)
			}
		}
	}
	return list
}

var (
	command   = regexp.MustCompile(`^::(error|warning|notice) ([^:]*)::(.+)$`)
	unescape  = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	positions = map[string]bool{"13": true, "40": true, "1": true, "7": true}
)

// readAnnotations parses the lines as the runner does (TryParseV2 in
// src/Runner.Common/ActionCommand.cs of actions/runner).
func readAnnotations(t testing.TB, document []byte, r report.Report) {
	t.Helper()
	lines, levels := strings.Split(strings.TrimSuffix(string(document), "\n"), "\n"), map[string]int{}
	for i, line := range lines {
		m := command.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not an annotation: %q", line)
		}
		properties := map[string]string{}
		for property := range strings.SplitSeq(m[2], ",") {
			name, value, _ := strings.Cut(property, "=")
			properties[name] = unescape.Replace(value)
		}
		last := i == len(lines)-1
		if at := properties["line"]; properties["title"] == "" || len(properties) > 3 || (at != "" && !positions[at]) || (at == "") != (properties["file"] == "") || last && at != "" {
			t.Errorf("%q has the properties %v", line, properties)
		}
		levels[m[1]]++
		if last && m[1] != string(r.Severity()) {
			t.Errorf("%q does not follow from the decision %s", line, r.Head().Decision.Status)
		}
	}
	want := map[string]int{string(r.Severity()): 1}
	for _, f := range r.Findings(9) {
		if level := string(f.Severity()); want[level] < 9 || level == string(r.Severity()) && want[level] < 10 {
			want[level]++
		}
	}
	if !maps.Equal(levels, want) {
		t.Errorf("%v annotations, want %v", levels, want)
	}
}

// readBadge checks what shields.io demands.
func readBadge(t testing.TB, document []byte, r report.Report) {
	t.Helper()
	var b struct {
		SchemaVersion         int
		Label, Message, Color string
		IsError               bool
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil || b.SchemaVersion != 1 || b.Message == "" {
		t.Errorf("%+v: %v", b, err)
	}
	if green := b.Color == "brightgreen"; green != (r.Head().Decision.Status == gate.StatusPassed) || !slices.Contains([]string{"brightgreen", "red", "orange", "yellow", "lightgrey"}, b.Color) {
		t.Errorf("%+v for the decision %s", b, r.Head().Decision.Status)
	}
}
