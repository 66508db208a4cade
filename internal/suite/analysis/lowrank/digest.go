package lowrank

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/accelgate/accelgate/internal/tensor"
)

// digest returns the SHA-256 of all that the items are computed from: names,
// formats, shapes and numbers, as lower-case hexadecimal digits.
func (j Job) digest(ctx context.Context, items []Item) (string, error) {
	d := digester{sha256.New()}
	d.text(string(j.mode()))
	for _, item := range items {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		d.text(item.Name)
		d.add(j.Original, item.Name)
		if j.Factors == nil {
			continue
		}
		for _, list := range [][]string{suffixes, rankSuffixes} {
			for _, suffix := range list {
				d.add(j.Factors, join(module(item.Name), suffix))
			}
		}
	}
	return hex.EncodeToString(d.Sum(nil)), nil
}

type digester struct{ hash.Hash }

// text adds a text behind its length, so that no two lists of texts are alike.
func (d digester) text(s string) {
	d.length(len(s))
	d.Write([]byte(s))
}

func (d digester) length(n int) { d.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }

// add adds a tensor, or that there is none.
func (d digester) add(source Source, name string) {
	t, err := source.Tensor(name)
	if err != nil {
		t = tensor.Tensor{} // whose format no tensor has
	}
	d.text(string(t.DType))
	d.text(fmt.Sprint(t.Shape))
	d.length(len(t.Data))
	d.Write(t.Data)
}
