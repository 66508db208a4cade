package cases_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/cases"
)

// frame is a configuration that opens.
const frame = `
    cases: cases
    commands:
      - type: text
        command: [run, "{model_id}", "{flags}", "{output}/x", "{tool}"]
        flags: {tp_size: --tp}
        ignored: [log_level]
        read: [json]
    vars: {tool: t}
    timeout: 20s
`

// TestOpenRefuses: faults of the configuration are reported before anything
// is measured, with its position.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"cases/a.json": `{"name": "a", "description": "d", "user_input": {"model_id": "m"}}`, "empty/notes.txt": ""})
	if _, err := cases.Open(parse(t, frame), environment(dir)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"cases: cases", "case: cases", `unknown key "case" in suites[0]; did you mean "cases"?`},
		{"cases: cases", "exact: false", "accelgate.yaml:3:5: suites[0].cases: the suite has no folder of cases: add cases, the folder that holds the *.json files"},
		{"cases: cases", "cases: nowhere", "nowhere: no such file or directory; name the folder that holds the case files"},
		{"cases: cases", "cases: empty", "holds no *.json file, so there is no case; name the folder that holds the case files"},
		{"    timeout: 20s", "    preset: msmodel", "unknown preset \"msmodel\""}, // the nearest is too far to guess

		{"    timeout: 20s", "    preset: msmodelling", `(did you mean msmodeling?): use one of engine, msmodeling, msmodeling-shim`},
		{"    timeout: 20s", "    repeats: 0", "repeats: is 0: use 1 to 1000"},
		{"timeout: 20s", "timeout: -1s", "timeout: is -1s: write a positive duration such as 90s or 15m"},
		{"    timeout: 20s", "    references: [first]", `references[0]: unknown reference "first": write initial or baseline`},
		{"    timeout: 20s", "    references: []", "accelgate.yaml:14:17: suites[0].references: is empty, so nothing would be judged: write initial, baseline or both, or remove the key for both"},
		{"    timeout: 20s", "    references: [initial, initial]", "references[1]: initial occurs twice: remove one"},
		{"    timeout: 20s", "    host: ../x", `accelgate.yaml:14:11: suites[0].host: no host can have the label "../x": write the one of its baseline-<host>.json, of lower-case letters`},
		{"    timeout: 20s", "    dir: nowhere", "accelgate.yaml:14:10: suites[0].dir: there is no folder " + filepath.Join(dir, "nowhere") + " for programs to start in: correct dir, or create the folder"},
		{"    timeout: 20s", "    dir: cases/a.json", "dir: there is no folder"},
		{"    timeout: 20s", "    operators: {level: error}", `operators.level: unknown level "error": write fail, warn or off`},
		{"    timeout: 20s", "    drift: never", `drift: unknown level "never": write fail, warn or off`},
		{"    timeout: 20s", "    no_reference: x", `no_reference: unknown level "x"`},
		{"    timeout: 20s", "    operators: {min_share: 0.01}", "0.01 can be read in two ways; write 1% for a share of 0.01, or 0.01%"},
		{"    timeout: 20s", "    metrics: [tpss]", `metrics[0]: unknown metric "tpss" (did you mean tps?): use one of total_time_s, execution_time_s`},
		{"    timeout: 20s", "    metrics: [tps, {name: tps, exact: true}]", "metrics[1]: metric tps occurs twice: remove one"},
		{"    timeout: 20s", "    metrics: [{name: tps, limit: 0%}]", "metrics[0].limit: 0% is not a limit that noise allows"},
		{"    timeout: 20s", "    metrics: [{name: tps, exact: true, limit: 3%}]", "metrics[0].limit: no change of tps is judged, because it is exact or informational"},
		{"    timeout: 20s", "    metrics: [{name: total_time_s, informational: true}]", "is what cases are judged by: remove informational"},
		{"vars: {tool: t}", "vars: {tool: t, model_id: x}", `vars.model_id: "model_id" is a setting of cases, or accelgate's own: use another name`},
		{"vars: {tool: t}", "vars: {tool: t, tol: x}", "vars.tol: {tol} stands in no template (did you mean tool?): correct it or remove it"},
		{"    timeout: 20s", "    env: {GITHUB_TOKEN: x}", "env: GITHUB_TOKEN never reaches a child"},
		{"    timeout: 20s", "    unset: ['A=B']", `unset[0]: "A=B" is not the name of a variable, or a glob: correct it`},
		{"    timeout: 20s", "    tags: {t: ['b*']}", `tags.t[0]: "b*" matches the name of no case: correct it or remove it`},
		{"    timeout: 20s", "    profiles: {p: [a, b]}", `profiles.p[1]: "b" matches the name of no case: correct it or remove it`},
		{"    timeout: 20s", "    tags: {t: [a], u: []}", "tags.u: is empty, so it selects no case: list globs on the names of cases, or remove it"},
		{"    timeout: 20s", "    profiles: {p: []}", "profiles.p: is empty, so it selects no case"},
		{"type: text", "type: txt", `commands[0].type: unknown type "txt": write text or video`},
		{"type: text", "type: command", "a case of type command has a command of its own"},
		{"{model_id}", "{modl_id}", `commands[0]: command[1] "{modl_id}": unknown placeholder {modl_id} (did you mean model_id?): use one of accelgate,`},
		{"{model_id}", "{seq_len}", "unknown placeholder {seq_len}"},
		{"{model_id}", "{model_id", "a brace stands alone: write {{ or }} for a brace"},
		{"{flags}", "--{flags}", `commands[0].flags: command has no item "{flags}" where they would stand: add it`},
		{"flags: {tp_size: --tp}", "env: {A: '{flags}'}", "{flags} is a list: make it an argument of its own"},
		{"flags: {tp_size: --tp}", "env: {A: '{x}'}", `env.A "{x}": unknown placeholder {x}`},
		{"flags: {tp_size: --tp}", "env: {MY_SECRET: x}", "MY_SECRET never reaches a child"},
		{"flags: {tp_size: --tp}", "flags: {tp_siz: --tp}", `commands[0].flags.tp_siz: text cases have no setting "tp_siz" (did you mean tp_size?): correct it or remove it`},
		{"flags: {tp_size: --tp}", "flags: {tp_size: ''}", "commands[0].flags.tp_size: is empty: write an option such as --tp-size, or add the setting to ignored"},
		{"ignored: [log_level]", "ignored: [loglevel]", `commands[0].ignored[0]: text cases have no setting "loglevel" (did you mean log_level?)`},
		{"ignored: [log_level]", "when: {x: y}", `commands[0].when.x: text cases have no setting "x"`},
		{"ignored: [log_level]", "defaults: {x: y}", `commands[0].defaults.x: text cases have no setting "x"`},
		{"read: [json]", "read: [jsn]", `commands[0].read[0].format: unknown format "jsn" (did you mean json?): use one of json, msmodeling-metrics`},
		{"read: [json]", "read: [{format: json, file: ../x}]", `commands[0].read[0].file: "../x" is not inside of {output}: write a plain name such as trace.json`},
		{"read: [json]", "read: []", "commands[0].read: is empty: name the place of the total, as in {format: json}"},
		{"        read: [json]", "", "commands[0]: read is missing"},
		{"read: [json]", "read: [json]\n        timeout: -1s", "commands[0].timeout: is -1s"},
	} {
		body := strings.Replace(frame, c.old, c.new, 1)
		if body == frame {
			t.Fatalf("%q is not in the frame", c.old)
		}
		_, err := cases.Open(parse(t, body), environment(dir))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "accelgate.yaml:") {
			t.Errorf("%s: error = %v, want a position and %q", c.new, err, c.want)
		}
	}
	if _, err := cases.Open(parse(t, "    cases: cases\n    commands: []\n"), environment(dir)); err == nil || !strings.Contains(err.Error(), "commands: is empty") {
		t.Errorf("no commands: %v", err)
	}
	env := environment(dir)
	env.EngineArgs = []string{"--seed", "2"}
	if _, err := cases.Open(parse(t, frame), env); err == nil || !strings.Contains(err.Error(), "does not run the embedded engine, so --seed 2 has no effect") {
		t.Errorf("engine arguments for another program: %v", err)
	}
}
