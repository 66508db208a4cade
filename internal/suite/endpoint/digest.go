package endpoint

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
)

// fileHashes are the SHA-256 of the files that requests send.
func (s *inputs) fileHashes() string {
	sum := sha256.New()
	for _, f := range s.files {
		one := sha256.Sum256(f.data)
		sum.Write(one[:])
	}
	if len(s.files) == 0 {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func (s *inputs) schemaHash() string {
	if s.schema == nil {
		return ""
	}
	return s.schema.Hash
}

// digest identifies what is sent and the server that is started for it. What
// answers behind an address cannot be known, so its digest is never the same.
func (s *Suite) digest(cell bench.Cell) (string, error) {
	if s.body.BaseURL != "" {
		return rand.Text(), nil
	}
	p := s.points[cell.ID()]
	if p.search != "" {
		p = s.body.Search.point(s.body.Search.Min)
	}
	schedule, err := s.plan(p).Schedule()
	if err != nil {
		return "", err
	}
	args, err := s.serverCommand("0")
	if err != nil {
		return "", err
	}
	data, err := json.Marshal([]any{
		schedule.Digest(),
		s.dataset.Hash,
		s.schemaHash(),
		s.fileHashes(),
		s.body,
		args,
		s.contents.Program(args[0], nil),
		s.contents.Named(args[1:]),
		suite.Inherited(s.env.Environ),
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
