package mock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// dimensions of an embedding.
const dimensions = 8

// kind is a request whose answer is no generated text: how it is read, and what
// it is answered with.
type kind struct {
	read   func(data []byte, r *http.Request) (q Request, items int, err error)
	render func(q Request, items int) string
}

// others are the kinds by path.
var others = map[string]kind{
	"/v1/embeddings": {readEmbeddings, renderEmbeddings},
	"/v1/rerank":     {readRerank, renderRanks},
	"/v1/audio/transcriptions": {readRecording, func(q Request, _ int) string {
		return fmt.Sprintf(`{"text":"a recording of %d bytes"}`, q.PromptTokens)
	}},
}

// accept answers such a request after TTFT. The faults of a status and
// [SlowHeaders] apply, and [Short] and [BadJSON] to the answer.
func (k kind) accept(s *Server, r *http.Request, body []byte) (openai.Answer, *openai.Error) {
	q, items, err := k.read(body, r)
	var refused *openai.Error
	if err != nil {
		refused = openai.Invalid("invalid_value", "%v", err)
	}
	return s.accept(r, body, q, refused, func(ctx context.Context, w *openai.Response, q Request, script script) {
		if !s.pacer.wait(ctx.Done(), s.stop, newAlarm(), s.now().Add(s.config.TTFT+script.wait(SlowHeaders, 0))) {
			return
		}
		if script.has(Short) {
			items--
		}
		body := k.render(q, items)
		if script.has(BadJSON) {
			body = body[:len(body)/2]
		}
		_ = w.SendWhole([]byte(body)) // the client may be gone
	})
}

func readEmbeddings(data []byte, _ *http.Request) (q Request, items int, err error) {
	var b struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.Unmarshal(data, &b); err != nil || len(b.Input) == 0 || len(b.Model) > openai.MaxName {
		return q, 0, errors.New("input is not a list of texts: send one")
	}
	q.Model = b.Model
	for _, text := range b.Input {
		q.PromptTokens += words(text)
	}
	return q, len(b.Input), nil
}

func renderEmbeddings(q Request, items int) string {
	var list []string
	for i := range items {
		numbers := make([]string, dimensions)
		for j := range numbers {
			numbers[j] = strconv.FormatFloat(float64(i+1)/float64(j+2), 'g', 6, 32)
		}
		list = append(list, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%s]}`, i, strings.Join(numbers, ",")))
	}
	return fmt.Sprintf(`{"object":"list","data":[%s],"model":%s,"usage":{"prompt_tokens":%d,"total_tokens":%[3]d}}`,
		strings.Join(list, ","), quote(q.Model), q.PromptTokens)
}

func readRerank(data []byte, _ *http.Request) (q Request, items int, err error) {
	var b struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
	}
	if err := json.Unmarshal(data, &b); err != nil || b.Query == "" || len(b.Documents) == 0 || len(b.Model) > openai.MaxName {
		return q, 0, errors.New("query or documents are absent: send both")
	}
	q.Model = b.Model
	for _, text := range b.Documents {
		q.PromptTokens += words(text) + words(b.Query)
	}
	return q, len(b.Documents), nil
}

// renderRanks gives the results from the last document to the first, because
// servers sort them.
func renderRanks(q Request, items int) string {
	var list []string
	for i := items - 1; i >= 0; i-- {
		list = append(list, fmt.Sprintf(`{"index":%d,"relevance_score":%g}`, i, float64(i)/float64(items)))
	}
	return fmt.Sprintf(`{"model":%s,"results":[%s],"usage":{"total_tokens":%d}}`, quote(q.Model), strings.Join(list, ","), q.PromptTokens)
}

// readRecording counts the bytes of a recording as its tokens.
func readRecording(data []byte, r *http.Request) (q Request, items int, err error) {
	r.Body = io.NopCloser(strings.NewReader(string(data)))
	if err := r.ParseMultipartForm(maxBody); err != nil {
		return q, 0, fmt.Errorf("the form is not understood: %w", err)
	}
	file, header, err := r.FormFile("file")
	if err != nil {
		return q, 0, errors.New("the form has no file: send one")
	}
	defer file.Close()
	q.Model, q.PromptTokens = r.FormValue("model"), int(header.Size)
	if q.Model == "" || len(q.Model) > openai.MaxName {
		return q, 0, errors.New("the form names no model: send one")
	}
	return q, 1, nil
}

// longWord is the length from which on a word is two tokens of [Server.tokenize].
const longWord = 5

// CountTokens is the number of tokens of a text at /tokenize: more than the
// words that its usage counts, as with real vocabularies.
func CountTokens(text string) (n int) {
	for word := range strings.FieldsSeq(text) {
		n++
		if len(word) >= longWord {
			n++
		}
	}
	return n
}

// tokenize counts the tokens of a text, in the form of the engine.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var b struct{ Prompt, Content string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&b); err != nil {
		s.web.Fail(w, openai.Invalid("invalid_json", "the body is not understood: %v", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if s.config.Engine == LlamaCPP {
		data, _ := json.Marshal(map[string]any{"tokens": make([]int, CountTokens(b.Content))}) // numbers have no error
		_, _ = w.Write(data)                                                                   // the client may be gone
		return
	}
	fmt.Fprintf(w, `{"count":%d}`, CountTokens(b.Prompt))
}
