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
	if d.HasMessages() && b.Request.API != "chat" {
		return nil, c.Errorf("request.api", "the dataset holds conversations, which an endpoint for completions cannot be sent: set request.api: chat")
	}
	return d, nil
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
	words  int // of the prompt; 0 is not known
}

// question makes the request of a shot. A trace's warm-up asks what the trace
// says; every other one asks what no measured request does.
func (m *measurement) question(shot load.Shot) (question, error) {
	warm := shot.Phase == load.Warmup && m.body.Load.Mode != load.Trace
	return m.ask(m.model, m.asked.Prompt(shot.Index, warm))
}

func (s *Suite) ask(model string, p dataset.Prompt) (q question, err error) {
	r := &s.body.Request
	request := openai.Request{Chat: r.API == "chat", Model: model, System: r.System, Prompt: p.Text, MaxTokens: r.MaxTokens,
		Temperature: &r.Temperature, IgnoreEOS: r.IgnoreEOS, Stop: r.Stop}
	if p.OutputTokens > 0 {
		request.MaxTokens = p.OutputTokens
	}
	q.expect.MaxTokens = request.MaxTokens
	q.words = p.InputLength
	q.expect.PromptTokens = s.body.Expect.leastTokens(p.InputLength)
	if r.IgnoreEOS {
		q.expect.OutputTokens = request.MaxTokens
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
	q.body, err = openai.Encode(request)
	return q, err
}
