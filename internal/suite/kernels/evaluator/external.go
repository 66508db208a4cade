package evaluator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Protocol is the version of the messages to and from an external evaluator: a
// command that gets one [Request] as JSON on its standard input, reads the
// files that it names, writes one [Verdict] as JSON to its standard output and
// exits with 0. Its standard error is for people.
const Protocol = "accelgate-evaluator/1"

// Request asks an external evaluator for a verdict.
type Request struct {
	Protocol   string               `json:"protocol"`
	Definition string               `json:"definition"` // path of its JSON file
	Workload   string               `json:"workload"`   // UUID
	Axes       map[string]int       `json:"axes"`       // of the workload
	Inputs     string               `json:"inputs"`     // path of a safetensors file, empty if they were not kept
	Reference  string               `json:"reference"`  // path of a safetensors file
	Candidate  string               `json:"candidate"`  // path of a safetensors file
	Mode       Mode                 `json:"mode"`
	Tolerance  Tolerance            `json:"tolerance"` // zero where the evaluator is to use its own
	Outputs    map[string]Tolerance `json:"outputs"`   // what differs for single outputs
}

// verdict is the answer. Only Status is required; the others are reported as
// they come.
type verdict struct {
	Status           Status          `json:"status"`
	MaxAbsoluteError Number          `json:"max_absolute_error"`
	MaxRelativeError Number          `json:"max_relative_error"`
	Outputs          []verdictOutput `json:"outputs"`
	Log              string          `json:"log"`
}

// verdictOutput is the part of a verdict about one output.
type verdictOutput struct {
	Name             string   `json:"name"`
	MaxAbsoluteError Number   `json:"max_absolute_error"`
	MaxRelativeError Number   `json:"max_relative_error"`
	MatchedRatio     *float64 `json:"matched_ratio"`
	WorstIndex       []int    `json:"worst_index"`
}

// Limits of a verdict.
const (
	MaxVerdictBytes = 1 << 20
	maxOutputs      = 1 << 10
	maxAxes         = 32
)

// ParseVerdict reads the standard output of an external evaluator. The status
// must be one of PASSED, INCORRECT_SHAPE, INCORRECT_DTYPE and
// INCORRECT_NUMERICAL: an evaluator that cannot tell has to exit with another
// code than 0.
func ParseVerdict(text []byte) (Result, error) {
	v, err := decodeVerdict(text)
	if err == nil {
		err = v.valid()
	}
	if err != nil {
		return Result{}, fmt.Errorf("external evaluator: %w: write one JSON object as %s describes", err, Protocol)
	}
	r := Result{
		Status:           v.Status,
		MaxAbsoluteError: v.MaxAbsoluteError,
		MaxRelativeError: v.MaxRelativeError,
		Log:              v.Log,
		Outputs:          []OutputResult{},
	}
	for _, o := range v.Outputs {
		r.Outputs = append(r.Outputs, o.result(v.Status))
	}
	return r, nil
}

func decodeVerdict(text []byte) (v verdict, err error) {
	switch {
	case len(text) > MaxVerdictBytes:
		return v, fmt.Errorf("more than %d bytes of output", MaxVerdictBytes)
	case !utf8.Valid(text):
		return v, errors.New("its output is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, fmt.Errorf("its output is not a verdict (%.200s)", err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return v, errors.New("there is more than one value in its output")
	}
	return v, nil
}

func (v verdict) valid() error {
	switch v.Status {
	case Passed, IncorrectShape, IncorrectDType, IncorrectNumerical:
	default:
		return fmt.Errorf("status %.40q is not for an evaluator to give", v.Status)
	}
	if v.MaxAbsoluteError < 0 || v.MaxRelativeError < 0 {
		return errors.New("a negative error")
	}
	if len(v.Outputs) > maxOutputs {
		return fmt.Errorf("more than %d outputs", maxOutputs)
	}
	for _, o := range v.Outputs {
		if o.MaxAbsoluteError < 0 || o.MaxRelativeError < 0 {
			return fmt.Errorf("output %.40q has a negative error", o.Name)
		}
		if r := o.MatchedRatio; r != nil && !(*r >= 0 && *r <= 1) {
			return fmt.Errorf("output %.40q has the matched ratio %v", o.Name, *r)
		}
		if len(o.WorstIndex) > maxAxes {
			return fmt.Errorf("output %.40q has a worst index of more than %d axes", o.Name, maxAxes)
		}
	}
	return nil
}

func (o verdictOutput) result(s Status) OutputResult {
	r := OutputResult{
		Name: o.Name, Status: s, MaxAbsoluteError: o.MaxAbsoluteError, MaxRelativeError: o.MaxRelativeError,
		WorstIndex: o.WorstIndex, WorstFlat: -1,
	}
	if o.MatchedRatio != nil {
		r.MatchedRatio = *o.MatchedRatio
	} else if s == Passed {
		r.MatchedRatio = 1
	}
	return r
}
