package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/suite/endpoint/structured"
)

// openDataset reads the dataset. What is wrong with the configuration has its
// position; a file that is not there is no fault of the configuration.
func (b *body) openDataset(c *config.Suite, dir string) (*dataset.Dataset, error) {
	if err := b.Dataset.Validate(); err != nil {
		return nil, c.Errorf("dataset", "%v", err)
	}
	d, err := dataset.Load(b.Dataset.Spec, dataset.Folder(dir))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("suite %s: %w", c.Name, err)
		}
		return nil, fmt.Errorf("suite %s: dataset: %w", c.Name, err)
	}
	if d.HasMessages() && b.Request.API == apiText {
		return nil, c.Errorf("request.api",
			"the dataset holds conversations, which an endpoint for completions cannot be sent: set request.api: chat")
	}
	return d, nil
}

// openSchema reads the schema of answers, nil without one.
func (b *body) openSchema(c *config.Suite, dir string) (*structured.Schema, error) {
	if b.Request.JSONSchema == "" {
		return nil, nil
	}
	data, err := bounded(within(dir, b.Request.JSONSchema), structured.MaxSchema)
	if err != nil {
		return nil, c.Errorf("request.json_schema", "%v: name a file of a JSON Schema", err)
	}
	schema, err := structured.Read(data)
	if err != nil {
		return nil, c.Errorf("request.json_schema", "%.80q %v", b.Request.JSONSchema, err)
	}
	return schema, nil
}

// requireJSON asks for an answer of the schema and for its text.
func requireJSON(s *structured.Schema, r *openai.Request, e *openai.Expect) error {
	format, err := json.Marshal(map[string]any{"type": "json_schema",
		"json_schema": map[string]any{"name": "answer", "strict": true, "schema": s.Raw}})
	if err != nil {
		return err
	}
	if r.Extra == nil {
		r.Extra = map[string]json.RawMessage{}
	}
	r.Extra["response_format"] = format
	e.Text, e.Accept = true, s.Check
	return nil
}

// sequence applies the cache policy.
func (s *Suite) sequence(c *config.Suite) (*dataset.Sequence, error) {
	sequence, err := s.dataset.Sequence(s.body.Dataset.Policy, uint64(s.body.Dataset.Seed))
	if err != nil {
		return nil, c.Errorf("dataset", "%v", err)
	}
	return sequence, nil
}

// question is one request ready to be sent.
type question struct {
	body   openai.Body
	expect openai.Expect
	words  int     // of the prompt; 0 is not known
	inputs int     // of a request whose answer comes as a whole
	audio  float64 // seconds of a recording; 0 is not known
	model  string
	turn   int // of its conversation, from 1; 0 without one
}

// question makes the request of a shot. A trace's warm-up asks what the trace
// says; every other one asks what no measured request does.
func (r *record) question(shot load.Shot) (question, error) {
	if r.talks != nil {
		t := r.talkOf(shot.Slot)
		model := r.body.Mix.pick(r.body.Dataset.Seed, t.number, r.model)
		q, err := r.generatedRequest(model, t.next(), shot.Index)
		q.turn = t.turn + 1
		return q, err
	}
	warm := shot.Phase == load.Warmup && r.body.Load.Mode != load.Trace
	model := r.body.Mix.pick(r.body.Dataset.Seed, shot.Index, r.model)
	if !r.body.Request.generates() {
		return r.wholeQuestion(model, shot, warm)
	}
	return r.generatedRequest(model, r.asked.Prompt(shot.Index, warm), shot.Index)
}

// generatedRequest makes request n of those whose answer is generated.
func (s *inputs) generatedRequest(model string, p dataset.Prompt, n int) (q question, err error) {
	r := &s.body.Request
	request := openai.Request{Chat: r.API == apiChat, Model: model, System: r.System, Prompt: p.Text, MaxTokens: r.MaxTokens,
		Temperature: &r.Temperature, IgnoreEOS: r.IgnoreEOS, Stop: r.Stop}
	if len(s.files) > 0 {
		request.Image = s.files[n%len(s.files)].url
	}
	if p.OutputTokens > 0 {
		request.MaxTokens = p.OutputTokens
	}
	q.expect.MaxTokens = request.MaxTokens
	if q.words = p.InputLength; len(s.body.Mix) > 0 {
		q.model = model
	}
	q.expect.PromptTokens = s.body.Expect.minTokens(p.InputLength)
	if r.IgnoreEOS {
		q.expect.OutputTokens = request.MaxTokens
	}
	q.expect.Text = s.body.converses()
	if s.body.converses() {
		request.Prompt, request.System = "", "" // which the messages begin with
	}
	for _, m := range p.Messages {
		request.Messages = append(request.Messages, openai.Message(m))
	}
	if len(r.Extra) > 0 {
		request.Extra = map[string]json.RawMessage{}
		for name, value := range r.Extra {
			request.Extra[name] = json.RawMessage(value)
		}
	}
	if s.schema != nil {
		if err := requireJSON(s.schema, &request, &q.expect); err != nil {
			return q, err
		}
	}
	q.body, err = openai.Encode(request)
	return q, err
}
