package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"mime/multipart"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	embeddingsPath = "/v1/embeddings"
	rerankPath     = "/v1/rerank"
	speechPath     = "/v1/audio/transcriptions"
)

// Embeddings asks for the embedding of each text.
func Embeddings(model string, texts []string) (Body, error) {
	return whole(embeddingsPath, checkEmbeddings, texts, map[string]any{"model": model, "input": texts, "encoding_format": "float"})
}

// Rerank asks for the relevance of each document to the query.
func Rerank(model, query string, documents []string) (Body, error) {
	if query == "" || !utf8.ValidString(query) {
		return Body{}, fmt.Errorf("the query %.40q is empty or not UTF-8: correct the dataset", query)
	}
	return whole(rerankPath, checkRanks, documents, map[string]any{"model": model, "query": query, "documents": documents})
}

// whole encodes a request of fields for the answer to which check applies.
func whole(path string, check func([]byte, int) (int, error), texts []string, fields map[string]any) (Body, error) {
	for _, text := range texts {
		if text == "" || !utf8.ValidString(text) {
			return Body{}, fmt.Errorf("text %.40q is empty or not UTF-8: correct the dataset", text)
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(fields); err != nil {
		return Body{}, fmt.Errorf("encode the request: %w", err)
	}
	return Body{path: path, data: bytes.TrimSuffix(b.Bytes(), []byte("\n")), inputs: len(texts), check: check}, nil
}

// boundary between the parts of a form. A random one would make equal requests
// different bytes; this one does not occur in a recording but by intent.
const boundary = "accelgate-7d0c1f5b9ae34268"

// Transcription asks for the text of a recording, whose name shows its format.
func Transcription(model, name string, recording []byte) (Body, error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	if err := form.SetBoundary(boundary); err != nil {
		return Body{}, err
	}
	for _, field := range [][2]string{{"model", model}, {"response_format", "json"}, {"temperature", "0"}} {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return Body{}, err
		}
	}
	part, err := form.CreateFormFile("file", "recording"+strings.ToLower(filepath.Ext(name)))
	if err != nil {
		return Body{}, err
	}
	if _, err := part.Write(recording); err != nil {
		return Body{}, err
	}
	if err := form.Close(); err != nil {
		return Body{}, err
	}
	return Body{path: speechPath, data: b.Bytes(), mime: form.FormDataContentType(), inputs: 1, check: checkText}, nil
}

// checkEmbeddings reads {"data": [{"index": 0, "embedding": [0.1]}], "usage": {}}
// and returns the tokens of the usage. Numbers are read one by one: a model may
// give thousands for each of many texts.
func checkEmbeddings(data []byte, want int) (tokens int, err error) {
	c, seen, size := cursor{b: data}, make([]bool, want), 0
	if !c.enter('{') {
		return 0, errNotJSON
	}
	there := false
	for n := 0; c.more('}', n); n++ {
		switch string(c.key()) {
		case "data":
			there = true
			if c.enter('[') {
				for i := 0; c.more(']', i); i++ {
					if err := readEmbedding(&c, i, seen, &size); err != nil {
						return 0, err
					}
				}
			}
		case "usage":
			tokens = readTokens(c.skip())
		default:
			c.skip()
		}
	}
	if c.bad || !there {
		return 0, errNotJSON
	}
	return tokens, missing("embedding", seen)
}

func readEmbedding(c *cursor, at int, seen []bool, size *int) error {
	length, zero, broken := 0, true, ""
	if !c.enter('{') {
		return errNotJSON
	}
	for n := 0; c.more('}', n); n++ {
		switch string(c.key()) {
		case "index":
			c.count(&at)
		case "embedding":
			if !c.enter('[') {
				return errNotJSON
			}
			for ; c.more(']', length); length++ {
				from := c.i
				v, ok := c.float()
				if (!ok || math.IsInf(v, 0)) && broken == "" {
					broken = string(c.b[from:min(c.i, from+20)])
				}
				zero = zero && v == 0
			}
		default:
			c.skip()
		}
	}
	switch {
	case c.bad:
		return errNotJSON
	case broken != "":
		return fmt.Errorf("embedding %d holds %s and not only numbers", at, broken)
	case length == 0 || zero:
		return fmt.Errorf("embedding %d is empty or all 0", at)
	case *size > 0 && length != *size:
		return fmt.Errorf("embedding %d has %d numbers, and the first one %d", at, length, *size)
	}
	*size = length
	return mark("embedding", at, seen)
}

func mark(what string, at int, seen []bool) error {
	if at < 0 || at >= len(seen) || seen[at] {
		return fmt.Errorf("%s %d is one too many: %d were asked for", what, at, len(seen))
	}
	seen[at] = true
	return nil
}

func missing(what string, seen []bool) error {
	for i, there := range seen {
		if !there {
			return fmt.Errorf("%s %d of %d is missing", what, i, len(seen))
		}
	}
	return nil
}

// usage is what servers count of a request without a generated answer.
type usage struct {
	Prompt int `json:"prompt_tokens"`
	Total  int `json:"total_tokens"`
}

func readTokens(raw []byte) int {
	var u usage
	if json.Unmarshal(raw, &u) != nil || u.Prompt < 0 || u.Total < 0 || max(u.Prompt, u.Total) > maxCount {
		return 0
	}
	if u.Prompt == 0 {
		return u.Total
	}
	return u.Prompt
}

// rank is the relevance of a document: relevance_score at vLLM, llama.cpp and
// Jina, score at SGLang and TEI.
type rank struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

// checkRanks reads {"results": [{"index": 0, "relevance_score": 0.1}]}, or the
// list alone, in any order.
func checkRanks(data []byte, want int) (tokens int, err error) {
	var answer struct {
		Results []rank          `json:"results"`
		Usage   json.RawMessage `json:"usage"`
	}
	if json.Unmarshal(data, &answer) != nil && json.Unmarshal(data, &answer.Results) != nil || answer.Results == nil {
		return 0, errNotJSON
	}
	seen := make([]bool, want)
	for _, r := range answer.Results {
		if r.Index == nil || r.Relevance == nil && r.Score == nil {
			return 0, errors.New("a result has no index or no score")
		}
		if err := mark("result", *r.Index, seen); err != nil {
			return 0, err
		}
	}
	return readTokens(answer.Usage), missing("result", seen)
}

// checkText reads {"text": "..."}. A recording without speech has none.
func checkText(data []byte, _ int) (tokens int, err error) {
	var answer struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(data, &answer) != nil || answer.Text == nil {
		return 0, errNotJSON
	}
	return 0, nil
}
