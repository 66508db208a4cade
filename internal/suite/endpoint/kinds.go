package endpoint

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// The kinds of requests.
const (
	apiChat       = "chat"
	apiText       = "completions"
	apiEmbeddings = "embeddings"
	apiRerank     = "rerank"
	apiSpeech     = "transcription"
)

var apis = []string{apiChat, apiText, apiEmbeddings, apiRerank, apiSpeech}

// The limits of the contents of a request.
const (
	maxInputs    = 2048
	maxFiles     = 10_000
	maxFileBytes = 25 << 20 // what OpenAI takes
	maxAllFiles  = 1 << 30
)

// generates reports whether answers are generated token by token.
func (r *request) generates() bool { return r.API == apiChat || r.API == apiText }

// takesInputs reports whether a request holds several texts.
func (r *request) takesInputs() bool { return r.API == apiEmbeddings || r.API == apiRerank }

// texts is how many prompts of the dataset a request takes.
func (r *request) texts() int {
	switch r.API {
	case apiSpeech:
		return 0
	case apiEmbeddings:
		return max(r.Inputs, 1)
	case apiRerank:
		return max(r.Inputs, 1) + 1 // the query
	}
	return 1
}

func (b *body) checkKind(c *config.Suite) error {
	r := &b.Request
	if !slices.Contains(apis, r.API) {
		return c.Errorf("request.api", "unknown API %q: write one of %s", r.API, strings.Join(apis, ", "))
	}
	for _, key := range []struct {
		name string
		set  bool
	}{{"system", r.System != ""}, {"ignore_eos", r.IgnoreEOS}, {"stop", len(r.Stop) > 0}, {"temperature", r.Temperature != 0},
		{"json_schema", r.JSONSchema != ""}, {"extra", len(r.Extra) > 0}} {
		if key.set && !r.generates() {
			return c.Errorf("request."+key.name, "is for generated answers: remove it, or set request.api: chat")
		}
	}
	switch {
	case r.Inputs < 0 || r.Inputs > maxInputs:
		return c.Errorf("request.inputs", "is %d: use 1 to %d", r.Inputs, maxInputs)
	case r.Inputs > 1 && !r.takesInputs():
		return c.Errorf("request.inputs", "is for embeddings and rerank: remove it, or set request.api")
	case len(r.Files) > 0 && r.API != apiChat && r.API != apiSpeech:
		return c.Errorf("request.files", "are images of chats or recordings of transcription: remove them, or set request.api")
	case len(r.Files) == 0 && r.API == apiSpeech:
		return c.Errorf("request.files", "is empty: name the recordings to transcribe, such as [clip.wav]")
	case len(r.Files) > maxFiles:
		return c.Errorf("request.files", "has %d files: name up to %d", len(r.Files), maxFiles)
	}
	return nil
}

// file is an image or a recording that requests send.
type file struct {
	name    string
	data    []byte  // of a recording
	url     string  // of an image, as data:
	seconds float64 // of a recording; 0 is not known
}

// images are the formats that servers take.
var images = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// openFiles reads request.files.
func (b *body) openFiles(c *config.Suite, dir string) (files []file, err error) {
	total := 0
	for i, name := range b.Request.Files {
		at := fmt.Sprintf("request.files[%d]", i)
		data, err := bounded(within(dir, name), maxFileBytes)
		if total += len(data); err == nil && len(data) == 0 {
			err = errors.New("the file is empty")
		}
		switch mime := http.DetectContentType(data); {
		case err != nil:
			return nil, c.Errorf(at, "%.200q: %v: name a file that is there", name, err)
		case total > maxAllFiles:
			return nil, c.Errorf(at, "the files so far have more than %d bytes: name fewer", maxAllFiles)
		case b.Request.API == apiSpeech:
			files = append(files, file{name: name, data: data, seconds: wavSeconds(data)})
		case !slices.Contains(images, mime):
			return nil, c.Errorf(at, "%.200q is %s and not an image: name PNG, JPEG, WebP or GIF files", name, mime)
		default:
			files = append(files, file{name: name, data: data, url: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)})
		}
	}
	return files, nil
}

// wavSeconds is how long a WAV recording is, 0 of any other.
func wavSeconds(data []byte) float64 {
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		return 0
	}
	rate := 0.0 // bytes a second
	for at := 12; at+8 <= len(data); {
		size := int64(binary.LittleEndian.Uint32(data[at+4:]))
		switch body := data[at+8:]; string(data[at : at+4]) {
		case "fmt ":
			if len(body) >= 12 {
				rate = float64(binary.LittleEndian.Uint32(body[8:]))
			}
		case "data":
			if rate > 0 {
				return float64(min(size, int64(len(body)))) / rate
			}
			return 0
		}
		at += int(min(8+size+size%2, int64(len(data))))
	}
	return 0
}

// wholeRequest makes request n of those whose answer comes as a whole. prompt
// returns the texts of the dataset.
func (s *inputs) wholeRequest(model string, n int, prompt func(i int) dataset.Prompt) (q question, err error) {
	r := &s.body.Request
	if len(s.body.Mix) > 0 {
		q.model = model
	}
	if r.API == apiSpeech {
		of := s.files[n%len(s.files)]
		q.inputs, q.audio = 1, of.seconds
		q.body, err = openai.Transcription(model, of.name, of.data)
		return q, err
	}
	q.inputs = max(r.Inputs, 1)
	var texts []string
	each := r.texts()
	for i := range each {
		p := prompt(n*each + i)
		if p.Messages != nil {
			return q, errors.New("the dataset holds conversations, and texts are needed: write prompts")
		}
		texts = append(texts, p.Text)
		q.words += p.InputLength
	}
	if r.API == apiRerank {
		q.body, err = openai.Rerank(model, texts[0], texts[1:])
	} else {
		q.body, err = openai.Embeddings(model, texts)
	}
	return q, err
}

// wholeQuestion makes the request of a shot.
func (r *record) wholeQuestion(model string, shot load.Shot, warm bool) (question, error) {
	return r.wholeRequest(model, shot.Index, func(i int) dataset.Prompt { return r.asked.Prompt(i, warm) })
}
