package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/accelgate/accelgate/internal/cli"
	"github.com/accelgate/accelgate/internal/config"
)

var update = flag.Bool("update", false, "rewrite schema/*.json")

const schemaFile = "../../schema/accelgate.schema.json"

// printed is what a command prints on standard output.
func printed(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, complaints bytes.Buffer
	c := &cli.Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaints, Getenv: func(string) string { return "" }, Now: nil}
	if code := c.Main(context.Background(), args); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, complaints.String())
	}
	return out.Bytes()
}

// TestSchemaIsFresh: the committed schemas are those that the types yield.
func TestSchemaIsFresh(t *testing.T) {
	for name, file := range map[string]string{"config": schemaFile, "run": "../../schema/run.json", "baseline": "../../schema/baseline.json", "report": "../../schema/report.json"} {
		got := printed(t, "schema", name)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what 'accelgate schema %s' prints: run go test ./internal/cli -run TestSchemaIsFresh -update: %v", file, name, err)
		}
	}
}

// configurations are those of the repository: its own, the examples', those in YAML blocks of the pages, which may be one key of the file,
// and what init writes.
func configurations(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, _ := filepath.Glob("../../examples/*/*.yaml")
	for _, file := range append(files, "../../accelgate.yaml") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = string(data)
	}
	blocks := regexp.MustCompile("(?ms)^```yaml[^\n]*\n(.*?)^```$")
	whole, part := regexp.MustCompile(`(?m)^version: 1\b`), regexp.MustCompile(`\A(ab|baselines|policy|runners):`)
	pages, _ := filepath.Glob("../../docs/*.md")
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks.FindAllSubmatchIndex(data, -1) {
			content := string(data[block[2]:block[3]])
			if part.MatchString(content) && !whole.MatchString(content) {
				content += "version: 1\nsuites: [{name: a, kind: models, command: [x], models: [m], metrics: [{name: x, json: x, better: lower}]}]\n"
			}
			if whole.MatchString(content) {
				all[fmt.Sprintf("%s, character %d", page, block[2])] = content
			}
		}
	}
	t.Chdir(t.TempDir())
	var written []struct{ Path, Content string }
	if err := json.Unmarshal(printed(t, "init", "--dry-run", "--json", "--host-label", "desk"), &written); err != nil {
		t.Fatal(err)
	}
	all["init"] = written[0].Content
	return all
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(config.SchemaID, parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(config.SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, content string) error {
	t.Helper()
	data, err := config.ToJSON("accelgate.yaml", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}

// TestSchemaAcceptsConfigurations: what accelgate reads, the schema accepts.
func TestSchemaAcceptsConfigurations(t *testing.T) {
	schema := compiled(t)
	all := configurations(t)
	if len(all) < 15 {
		t.Errorf("found only %d configurations", len(all))
	}
	for name, content := range all {
		if err := validate(t, schema, content); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaRefusesMistakes: each key of each configuration, misspelt, and values of another type.
func TestSchemaRefusesMistakes(t *testing.T) {
	schema := compiled(t)
	const valid = `version: 1
policy: {threshold: 10%, fingerprint: warn}
limits: {budget: 30m, retries: 1}
suites:
  - {name: a, kind: exec, command: [x, "{regexp}"], read: gobench, benchmarks: [b], unset: [v], timeout: 30s}
  - {name: b, kind: models, command: [x], models: [m, {id: n, env: {A: 1}}], metrics: [{name: tps, regexp: x, optional: true}]}
  - {name: c, kind: endpoint, slo: llm.standard, load: {concurrency: [1, 4], rate: [0.5]}}
`
	if err := validate(t, schema, valid); err != nil {
		t.Fatal(err)
	}
	for _, key := range regexp.MustCompile(`\b([a-z_]+): `).FindAllStringSubmatchIndex(valid, -1) {
		wrong := valid[:key[2]] + "x" + valid[key[2]:]
		if err := validate(t, schema, wrong); err == nil {
			t.Errorf("the schema takes the key x%s", valid[key[2]:key[3]])
		}
	}
	for from, to := range map[string]string{
		"version: 1": "version: 2", "10%": "a lot", "warn": "never", "30m": "soon", "retries: 1": "retries: 1.5", "kind: exec": "kind: exce",
		"[v]": "v", "[1, 4]": "[1, four]", "optional: true": "optional: 1", "{A: 1}": "{A: [1]}", "read: gobench": "read: [gobench]",
	} {
		if !strings.Contains(valid, from) {
			t.Fatalf("no %s", from)
		}
		if err := validate(t, schema, strings.Replace(valid, from, to, 1)); err == nil {
			t.Errorf("the schema takes %s", to)
		}
	}
}
