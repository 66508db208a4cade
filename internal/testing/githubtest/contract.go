package githubtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/accelgate/accelgate/internal/testing/githubtest/openapi"
)

// contract is GitHub's description of its API, ready to route and to judge
// requests and responses. It is safe for concurrent use.
type contract struct {
	router  routers.Router
	failure *openapi3.Schema // body of an error that an operation does not list
}

// loadContract parses the description once per process: it never changes.
var loadContract = sync.OnceValues(func() (*contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi.Description())
	if err != nil {
		return nil, fmt.Errorf("load the API description: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.DisableExamplesValidation()); err != nil {
		return nil, fmt.Errorf("check the API description: %w", err)
	}
	failure := doc.Components.Schemas["basic-error"]
	if failure == nil {
		return nil, errors.New("the API description has no schema basic-error")
	}
	widenPaths(doc)
	unserved := maps.Clone(operations)
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if operations[operation.OperationID].serve == nil {
				return nil, fmt.Errorf("nothing serves operation %s of the API description", operation.OperationID)
			}
			delete(unserved, operation.OperationID)
			forbidUnknownFields(operation.RequestBody)
			allowOverlap(operation.Responses)
		}
	}
	if len(unserved) > 0 {
		return nil, fmt.Errorf("the API description lacks operations that are served: %v", slices.Sorted(maps.Keys(unserved)))
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("route the API description: %w", err)
	}
	return &contract{router: router, failure: failure.Value}, nil
})

// widenPaths lets the parameters that GitHub marks x-multi-segment hold
// slashes, as a branch's name or a file's path does.
func widenPaths(doc *openapi3.T) {
	for path, item := range doc.Paths.Map() {
		wide := path
		for _, operation := range item.Operations() {
			for _, p := range operation.Parameters {
				if p.Value.In == openapi3.ParameterInPath && p.Value.Extensions["x-multi-segment"] == true {
					wide = strings.ReplaceAll(wide, "{"+p.Value.Name+"}", "{"+p.Value.Name+":.+}")
				}
			}
		}
		doc.Paths.Delete(path)
		doc.Paths.Set(wide, item)
	}
}

// forbidUnknownFields makes a misspelt field of a request body a violation.
// GitHub itself ignores it, which is how such mistakes stay unnoticed.
func forbidUnknownFields(body *openapi3.RequestBodyRef) {
	if body == nil {
		return
	}
	for _, media := range body.Value.Content {
		closeSchema(media.Schema)
	}
}

func closeSchema(ref *openapi3.SchemaRef) {
	if ref == nil || ref.Ref != "" {
		return // shared with responses, where unknown fields are GitHub's to add
	}
	schema := ref.Value
	if len(schema.Properties) > 0 && schema.AdditionalProperties.Has == nil {
		schema.AdditionalProperties = openapi3.AdditionalProperties{Has: new(bool)}
	}
	for _, property := range schema.Properties {
		closeSchema(property)
	}
	closeSchema(schema.Items)
}

// allowOverlap lets an error match several of the alternatives for its body.
// GitHub's schemas for errors are so loose that its own errors do.
func allowOverlap(responses *openapi3.Responses) {
	for status, response := range responses.Map() {
		for _, media := range response.Value.Content {
			if schema := media.Schema; status >= "400" && schema != nil && schema.Ref == "" {
				schema.Value.AnyOf = append(schema.Value.AnyOf, schema.Value.OneOf...)
				schema.Value.OneOf = nil
			}
		}
	}
}

// exchange is one request on its way through the contract.
type exchange struct {
	contract  *contract
	operation *openapi3.Operation
	input     *openapi3filter.RequestValidationInput
	params    map[string]string // decoded parameters of the path
}

// route finds the operation a request asks for. body is the request's, which
// has been read already.
func (c *contract) route(r *http.Request, body []byte) (*exchange, error) {
	route, encoded, err := c.router.FindRoute(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s is not in the API description: %w", r.Method, r.URL.Path, err)
	}
	params := make(map[string]string, len(encoded))
	for name, value := range encoded {
		if params[name], err = url.PathUnescape(value); err != nil {
			return nil, fmt.Errorf("decode %s of %s: %w", name, r.URL.Path, err)
		}
	}
	request := r.Clone(r.Context())
	request.Body = io.NopCloser(bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json") // GitHub reads a body as JSON whatever it is called
	input := &openapi3filter.RequestValidationInput{
		Request: request, PathParams: params, Route: route, Options: validation(),
	}
	return &exchange{contract: c, operation: route.Operation, input: input, params: params}, nil
}

// checkRequest returns what is wrong with the request.
func (e *exchange) checkRequest() error {
	var problems []error
	for name := range e.input.GetQueryParams() {
		if e.operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			problems = append(problems, fmt.Errorf("query parameter %q is not in the API description", name))
		}
	}
	problems = append(problems, openapi3filter.ValidateRequest(e.input.Request.Context(), e.input))
	return errors.Join(problems...)
}

// schema returns the schema of the JSON that the operation answers with under
// status, and whether the description lists that status.
func (e *exchange) schema(status int) (schema *openapi3.Schema, listed bool) {
	ref := e.operation.Responses.Status(status)
	if ref == nil {
		return e.contract.failure, false
	}
	media := ref.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return nil, true
	}
	return media.Schema.Value, true
}

// checkResponse returns what is wrong with a response. The description lists
// few of an operation's errors (hardly ever 401, for one): one that it leaves
// out has to look like GitHub's common error.
func (e *exchange) checkResponse(r response) error {
	if schema, listed := e.schema(r.status); !listed && r.status >= http.StatusBadRequest {
		var value any
		if err := json.Unmarshal(r.body, &value); err != nil {
			return fmt.Errorf("the error's body is no JSON: %w", err)
		}
		return schema.VisitJSON(value)
	}
	return openapi3filter.ValidateResponse(e.input.Request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: e.input,
		Status:                 r.status,
		Header:                 r.header,
		Body:                   io.NopCloser(bytes.NewReader(r.body)),
		Options:                validation(),
	})
}

func validation() *openapi3filter.Options {
	options := &openapi3filter.Options{
		AuthenticationFunc:                openapi3filter.NoopAuthenticationFunc,
		IncludeResponseStatus:             true,
		MultiError:                        true,
		RejectWhenRequestBodyNotSpecified: true,
		SkipSettingDefaults:               true,
	}
	options.WithCustomSchemaErrorFunc(explain)
	return options
}

// explain returns where and why in one line. The default message holds the whole
// schema and value.
func explain(err *openapi3.SchemaError) string {
	pointer := "/" + strings.Join(err.JSONPointer(), "/")
	return pointer + ": " + err.Reason
}
