package models

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
)

// hidden implements Hidden of [suite.Plan].
func (s *Suite) hidden(answered func(bench.Cell) string) (all []string) {
	var answers []*formats.Document
	for _, c := range s.cells {
		if answer := answered(c); answer != "" {
			answers = append(answers, formats.NewDocument([]byte(answer)))
		}
	}
	look := func(path string, e *expectation) {
		if e == nil || e.JSON == nil {
			return
		}
		for _, a := range answers {
			if _, has, _ := a.Plain(*e.JSON); has {
				return
			}
		}
		all = append(all, s.config.Errorf(path+".json", "%s is looked up in the answer, which is %s of the output, and the rest of it is hidden: "+
			"remove answer if it stands there", quoted(e.JSON.String()), s.body.Answer).Error())
	}
	for i := range s.body.Expect {
		look(fmt.Sprintf("expect[%d]", i), &s.body.Expect[i])
	}
	for _, axis := range s.body.dimensions() {
		for i, v := range axis.Values {
			look(fmt.Sprintf("%s[%d].expect", axis.path, i), v.Expect)
		}
	}
	return all
}

// String returns which part of the output the answer is.
func (a *source) String() string {
	switch {
	case a.JSON != nil:
		return "the text at " + quoted(a.JSON.String())
	case a.Regexp != nil:
		return "what " + quoted(a.Regexp.String()) + " matches"
	}
	return "what the parser reads"
}
