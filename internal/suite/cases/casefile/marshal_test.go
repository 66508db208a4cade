package casefile_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/google/go-cmp/cmp"
)

// TestMarshal has a case of each type; how they are written stands in
// testdata/new.
func TestMarshal(t *testing.T) {
	t.Parallel()
	text := casefile.New("cases/text.json", casefile.Text)
	text.Description, text.InitialTimeS, text.BaselineTimeS = "Qwen3-8B <décode> & \u2028", 0.012733, 1e-5
	text.CompilationConfig = []string{"enable_matmul_allreduce"}
	text.UserInput["tp_size"], text.UserInput["vision_tp_size"], text.UserInput["world_size"] = json.Number("2"), json.Number("2"), json.Number("2")
	text.Operators = []casefile.Operator{{Name: "aten.mm.default", TotalTimeS: 0.005301999999999999, NumCalls: 73}, {Name: "other", TotalTimeS: 1}}
	video := casefile.New("cases/video.json", casefile.Video)
	video.Video["quantize_linear_action"] = "FP8"
	command := casefile.New("cases/command.json", casefile.Command)
	command.Command, command.Env, command.Tags = []string{"./bench", "--n", ""}, map[string]string{"B": "2", "A": ""}, []string{"nightly"}
	command.Format, command.TimeoutS, command.Operators = "key_averages", 90, []casefile.Operator{}
	for _, c := range []*casefile.Case{text, video, command} {
		got, err := casefile.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/new/"+filepath.Base(c.Path), string(got))
		checkRoundTrip(t, c)
	}
}

// checkRoundTrip asserts that a case is read as it was written, and that
// writing it again changes nothing.
func checkRoundTrip(t *testing.T, c *casefile.Case) {
	t.Helper()
	text, err := casefile.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := casefile.Parse(c.Path, text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, c); diff != "" {
		t.Errorf("%s: -got +want:\n%s", c.Path, diff)
	}
	again, err := casefile.Marshal(got)
	if err != nil || !bytes.Equal(again, text) {
		t.Errorf("%s: %v, or written otherwise", c.Path, err)
	}
}

// TestMarshalRealFiles writes msmodeling's own cases with the same keys and
// values in the same order.
func TestMarshalRealFiles(t *testing.T) {
	t.Parallel()
	for _, path := range realFiles(t) {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := casefile.Parse(path, want)
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, c)
		got, err := casefile.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tokens(got), tokens(want)); diff != "" {
			t.Errorf("%s: -got +want:\n%s", path, diff)
		}
	}
}

func tokens(data []byte) (all []any) {
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err != nil {
			return all
		}
		all = append(all, token)
	}
}

func TestMarshalErrors(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*casefile.Case){
		"c.json:2:11: type: unknown value \"x\"; write one of text, video, command, group":                                         func(c *casefile.Case) { c.Type = "x" },
		"c.json:3:11: name: \"d\" is not the file's stem \"c\", by which the operators are found; write \"c\", or rename the file": func(c *casefile.Case) { c.Name = "d" },
		"c.json:5:21: initial_time_s: -1.0 is negative; write 0 or more":                                                           func(c *casefile.Case) { c.InitialTimeS = -1 },
		"c.json:12:5: user_input.zzzzzz: unknown key; remove it":                                                                   func(c *casefile.Case) { c.UserInput = map[string]any{"zzzzzz": 1.0} },
		"write c.json: json: invalid number literal \"NaN\": use only values that JSON has":                                        func(c *casefile.Case) { c.BaselineTimeS = math.NaN() },
		"write c.json: json: unsupported type: func(): use only values that JSON has":                                              func(c *casefile.Case) { c.UserInput["device"] = func() {} },
		"c.json:12:16: user_input.tp_size: want a whole number, got the text \"2\"; write a whole number":                          func(c *casefile.Case) { c.UserInput = map[string]any{"tp_size": "2"} },
		"c.json:14:15: operators[0].name: is empty; write the operator's name, such as aten.mm.default":                            func(c *casefile.Case) { c.UserInput, c.Operators = nil, []casefile.Operator{{}} },
		"c.json:11:14: command: want a list, got null; write a list, such as [\"./bench\"]":                                        func(c *casefile.Case) { c.Type = "command" },
		"c.json: is larger than 1048576 bytes, so it is not a case; move it out of the folder of cases":                            func(c *casefile.Case) { c.Description = strings.Repeat("x", 1<<20) },
	} {
		c := casefile.New("c.json", casefile.Text)
		change(c)
		if _, err := casefile.Marshal(c); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
