package schema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

const (
	everyKey = "testdata/baseline-every-key.json"
	golden   = "../../report/testdata/report/waived/report.json"
)

// compiled reads a committed schema; TestSchemaIsFresh of package cli compares it with the types.
func compiled(t *testing.T, name string) *validator.Schema {
	t.Helper()
	c := validator.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("../../../schema/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parsed(t *testing.T, data []byte) any {
	t.Helper()
	v, err := validator.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// runs are those of the reports' goldens.
func runs(t *testing.T) map[string][]byte {
	t.Helper()
	files, _ := filepath.Glob("../../report/testdata/report/*/input.json")
	all := map[string][]byte{}
	for _, file := range files {
		var input struct {
			Hosts []struct{ Run *bench.Run }
		}
		if err := json.Unmarshal(read(t, file), &input); err != nil {
			t.Fatal(err)
		}
		for _, host := range input.Hosts {
			if host.Run == nil {
				continue
			}
			data, err := json.Marshal(host.Run)
			if err != nil {
				t.Fatal(err)
			}
			all[file+" "+host.Run.Host.Label] = data
		}
	}
	return all
}

func baselines(t *testing.T) map[string][]byte {
	t.Helper()
	files, _ := filepath.Glob("../../../baselines/*.json")
	all := map[string][]byte{}
	for _, file := range append(files, everyKey, "../../reference/baseline/testdata/baseline-linux-cuda.json") {
		all[file] = read(t, file)
	}
	return all
}

// reports are the goldens.
func reports(t *testing.T) map[string][]byte {
	t.Helper()
	files, _ := filepath.Glob("../../report/testdata/report/*/report.json")
	all := map[string][]byte{}
	for _, file := range files {
		all[file] = read(t, file)
	}
	return all
}

// TestReportHasNoOtherKey: reports have no key that their schema does not list.
func TestReportHasNoOtherKey(t *testing.T) {
	closed := parsed(t, read(t, "../../../schema/report.json"))
	each(map[string]any{"": closed}, "", func(_ string, _ func(any), value any) {
		if object, ok := value.(map[string]any); ok && object["properties"] != nil && object["type"] != nil {
			object["additionalProperties"] = false
		}
	})
	c := validator.NewCompiler()
	if err := c.AddResource("closed.json", closed); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("closed.json")
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range reports(t) {
		if err := schema.Validate(parsed(t, data)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if err := schema.Validate(parsed(t, []byte(strings.Replace(string(read(t, golden)), `"hosts":`, `"more":1,"hosts":`, 1)))); err == nil {
		t.Error("another key is accepted")
	}
}

// TestSchemasAcceptDocuments: the schemas accept recorded documents. The scripts of e2e check fresh ones.
func TestSchemasAcceptDocuments(t *testing.T) {
	for name, documents := range map[string]map[string][]byte{"run.json": runs(t), "baseline.json": baselines(t), "report.json": reports(t)} {
		schema := compiled(t, name)
		if len(documents) < 3 {
			t.Errorf("%s: found only %d documents", name, len(documents))
		}
		for file, data := range documents {
			if err := schema.Validate(parsed(t, data)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

const run = `{"schema": 1, "tool": "accelgate", "host": {"label": "desk", "cores": 2}, "started": "2026-01-01T00:00:00Z", "context": {"a": "b"},
 "metrics": [{"name": "tps", "better": "higher", "kind": "rate"}], "calibration": {"before": [1.5]}, "left_out": [{"cell": "b", "reason": "c"}],
 "results": [{"cell": {"params": [{"key": "model", "value": "tiny"}]}, "outcome": "passed", "checked": "answer", "counts": {"ok": 1},
  "health": {"status": "ok", "readings": [{"name": "clock", "n": 1, "min": 1, "mean": 1, "max": 1}]},
  "samples": [{"metric": "tps", "values": [1], "estimates": [{"n": 1, "low": 1, "high": 1}]}]}]}`

// TestSchemasRefuseMistakes: each value of a document, replaced by one of another type, other words, and keys misspelt.
func TestSchemasRefuseMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		document string
		mistakes []string // what stands there, and what is wrong in its place
	}{
		"run.json": {run, []string{`"cores"`, `"core"`, `"tool"`, `"tol"`, `"reason"`, `"reasons"`, `"schema": 1`, `"schema": 2`, "higher", "more", "passed", "fine",
			`"status": "ok"`, `"status": "good"`, `"rate"`, `"speed"`, "2026-01-01T", "2026-01-01 ", `"n": 1`, `"n": 1.5`}},
		"baseline.json": {string(read(t, everyKey)), []string{`"case_id"`, `"case"`, `"ok"`, `"okay"`, `"median"`, `"mean"`, `"entries"`, `"entry"`,
			`"schema": 1`, `"schema": 2`, `"higher"`, `"up"`, "2026-03-01T", "yesterday"}},
		"report.json": {string(read(t, golden)), []string{`"schema":3`, `"schema":2`, `"status":`, `"state":`, `"status":"`, `"status":"not `, `"title":`, `"headline":`,
			`"finding":"`, `"finding":"not `, `"blocks":false`, `"blocks":"no"`, `"certainty":`, `"certain":`, `"interval":[`, `"interval":[0,`, `"verdicts":`, `"verdict":`}},
	} {
		schema := compiled(t, name)
		root := parsed(t, []byte(c.document))
		if err := schema.Validate(root); err != nil {
			t.Fatal(err)
		}
		each(root, "", func(path string, set func(any), old any) {
			set([]any{[]any{}})
			if err := schema.Validate(root); err == nil {
				t.Errorf("%s takes a list of lists at %s", name, path)
			}
			set(old)
		})
		for pair := range slices.Chunk(c.mistakes, 2) {
			wrong := strings.Replace(c.document, pair[0], pair[1], 1)
			if err := schema.Validate(parsed(t, []byte(wrong))); err == nil || wrong == c.document {
				t.Errorf("%s takes %s", name, pair[1])
			}
		}
	}
}

// each calls visit with every value below v; set replaces it.
func each(v any, path string, visit func(path string, set func(any), old any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			visit(path+"/"+key, func(n any) { v[key] = n }, value)
			each(value, path+"/"+key, visit)
		}
	case []any:
		for i, value := range v {
			visit(path+"/0", func(n any) { v[i] = n }, value)
			each(value, path+"/0", visit)
		}
	}
}

// TestBaselineHasEveryKey: baselines are written by an encoder of their own, so the tags of their types can be wrong. A
// file that the encoder writes unchanged has each key of the schema.
func TestBaselineHasEveryKey(t *testing.T) {
	data := read(t, everyKey)
	file, err := baseline.Parse(everyKey, data)
	if err != nil {
		t.Fatal(err)
	}
	written, err := baseline.Marshal(file)
	if diff := cmp.Diff(string(data), string(written)); err != nil || diff != "" {
		t.Errorf("written again (-want +got): %v\n%s", err, diff)
	}
	each(parsed(t, read(t, "../../../schema/baseline.json")), "", func(path string, _ func(any), value any) {
		if !strings.HasSuffix(path, "/properties") {
			return
		}
		for key := range value.(map[string]any) {
			if !strings.Contains(string(data), `"`+key+`": `) {
				t.Errorf("%s has no key %s", everyKey, key)
			}
		}
	})
}
