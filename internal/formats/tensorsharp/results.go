package tensorsharp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
	"github.com/tailscale/hujson"
)

// The limits of a folder of results. A result holds at most 28 KiB of texts
// and 40 lines of a log.
const (
	maxResultBytes    = 4 << 20
	maxResults        = 200_000
	maxResultWarnings = 50
	maxText           = 4 << 10 // of an answer or a log that is kept
)

// metrics are what TensorSharp measures. It gates decode_tps, and prefill_tps
// where neither side of a comparison has it.
var metrics = []bench.Metric{
	{Name: "prefill_tps", Unit: "tok/s", Better: bench.Higher, Resolution: 0.1, FallbackFor: "decode_tps"},
	{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher, Resolution: 0.1},
	{Name: "model_load_ms", Unit: "ms", Better: bench.Lower, Resolution: 0.1, Informational: true},
}

// ReadResults reads a folder of results, one JSON file a cell, as a run. The
// host is not known from it and is left empty.
//
// What is not a result of that folder is left out with a warning that names
// it: a file that is damaged or no result, one whose name is not its case id
// (a copy, say, or one of another tool), a link. Folders below are not looked
// at. No usable file at all is an error.
func ReadResults(dir string) (run *bench.Run, warnings []string, err error) {
	root, err := os.OpenRoot(dir) // keeps a link that appears in between from leading elsewhere
	if err != nil {
		return nil, nil, fmt.Errorf("open the folder of results: %w: name the folder that results_dir of matrix-config.json names", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, nil, fmt.Errorf("list the folder of results: %w: name another one", err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() || filepath.Ext(e.Name()) != ".json" })
	if len(entries) > maxResults {
		return nil, nil, fmt.Errorf("%s holds %d results, more than %d: import it in parts", plain(dir), len(entries), maxResults)
	}
	i := importer{run: &bench.Run{Schema: bench.RunSchema, Tool: "TensorSharp.TestMatrix", Metrics: slices.Clone(metrics)}}
	for _, e := range entries {
		r, err := readResult(root, e)
		if err != nil {
			i.warn(e.Name(), "%v: left out; remove the file, or measure the cell again", err)
			continue
		}
		i.add(e.Name(), r)
	}
	if more := i.count - maxResultWarnings; more > 0 {
		i.warnings = append(i.warnings, text.Plural(more, "more file")+" like these: fix these first")
	}
	if len(i.run.Results) == 0 {
		return nil, i.warnings, fmt.Errorf(
			"%s holds no result of TensorSharp.TestMatrix: name the folder that results_dir of matrix-config.json names", plain(dir))
	}
	return i.run, i.warnings, nil
}

// importer gathers the results of a folder.
type importer struct {
	run      *bench.Run
	warnings []string
	count    int // of warnings, including those that are left out
}

func (i *importer) warn(name, format string, args ...any) {
	if i.count++; i.count <= maxResultWarnings {
		i.warnings = append(i.warnings, fmt.Sprintf("result %.255q: %s", name, fmt.Sprintf(format, args...)))
	}
}

func (i *importer) add(name string, r *result) {
	result := r.result()
	if result.Outcome == bench.Passed && r.PrefillTPS <= 0 && r.DecodeTPS <= 0 {
		i.warn(name, "counts as passed although it measured no speed, as in TensorSharp: look at its stdout_tail")
	}
	i.run.Results = append(i.run.Results, result)
	if started := r.StartedAt.Time; !started.IsZero() && (i.run.Started.IsZero() || started.Before(i.run.Started)) {
		i.run.Started = started
	}
}

func readResult(root *os.Root, e fs.DirEntry) (*result, error) {
	if !e.Type().IsRegular() { // a pipe would block, a link lead elsewhere
		return nil, errors.New("is a link or no file")
	}
	f, err := root.Open(e.Name())
	if err != nil {
		return nil, errors.New("cannot be opened")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxResultBytes+1))
	if err != nil {
		return nil, errors.New("cannot be read")
	}
	return decodeResult(e.Name(), data)
}

// decodeResult reads one result; name is the name of its file.
func decodeResult(name string, data []byte) (*result, error) {
	if len(data) > maxResultBytes {
		return nil, fmt.Errorf("is larger than %d bytes", maxResultBytes)
	}
	data, err := standard(data)
	if err != nil {
		return nil, errors.New("is not valid JSON")
	}
	if err := jsonkey.CheckFold(data); err != nil { // TensorSharp takes any letter case
		return nil, err
	}
	var r result
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, &r); {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("%s has the wrong type (%s)", plain(wrong.Field), plain(wrong.Value))
	case err != nil:
		return nil, errors.New("is not a result")
	case r.CaseID == "":
		return nil, errors.New("is not a result: it has no case_id")
	case strings.ReplaceAll(r.CaseID, "=", "@")+".json" != name:
		return nil, fmt.Errorf("holds case %s, whose file has another name", quote(r.CaseID))
	case r.OK == nil && !r.Skipped:
		return nil, errors.New("does not state whether the cell is ok")
	}
	return &r, nil
}

// standard removes what TensorSharp's reader allows beyond JSON. Its own files
// have nothing of it.
func standard(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if json.Valid(data) {
		return data, nil
	}
	if bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) > maxNested {
		return nil, errors.New("nests too deeply")
	}
	return hujson.Standardize(append(bytes.Clone(data), '\n'))
}

// result is one file, as far as it is used.
type result struct {
	CaseID           string    `json:"case_id"`
	OK               *bool     `json:"ok"`
	Skipped          bool      `json:"skipped"`
	SkipReason       string    `json:"skip_reason"`
	Error            string    `json:"error"`
	CorrectnessOK    *bool     `json:"correctness_ok"`
	CorrectnessError string    `json:"correctness_error"`
	ExitCode         int       `json:"exit_code"`
	ModelLoadMS      float64   `json:"model_load_ms"`
	PrefillTPS       float64   `json:"prefill_tps"`
	DecodeTPS        float64   `json:"decode_tps"`
	TotalWallMS      float64   `json:"total_wall_ms"`
	OutputPreview    string    `json:"output_preview"`
	StdoutTail       string    `json:"stdout_tail"`
	StartedAt        startTime `json:"started_at"`
	Output           struct {
		AssistantText string `json:"assistant_text"`
	} `json:"output"`
}

// startTime is a time that is worth nothing compared with the rest of a
// result: one that cannot be read is zero.
type startTime struct{ time.Time }

func (t *startTime) UnmarshalJSON(data []byte) error {
	t.Time, _ = time.Parse(`"`+time.RFC3339Nano+`"`, string(data))
	return nil
}
