package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"slices"
)

// seal computes the hash. Every field has its length before it, so that no two
// different datasets are the same bytes.
func (d *Dataset) seal() {
	d.items = slices.Clip(d.items)
	d.sums = make([][16]byte, len(d.items))
	whole := sha256.New()
	io.WriteString(whole, "accelgate dataset 1\n")
	var fixed [16]byte
	for i := range d.items {
		p := d.Prompt(i)
		sum := digest(p)
		binary.BigEndian.PutUint64(fixed[:8], uint64(p.OutputTokens))
		binary.BigEndian.PutUint64(fixed[8:], uint64(p.At))
		whole.Write(sum[:])
		whole.Write(fixed[:])
		copy(d.sums[i][:], sum[:])
	}
	d.sealConversations(whole)
	d.Hash = hex.EncodeToString(whole.Sum(nil))
}

// digest is the SHA-256 of a prompt's text.
func digest(p Prompt) (sum [sha256.Size]byte) {
	h := sha256.New()
	write := func(s string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		io.WriteString(h, s)
	}
	if p.Messages == nil {
		write("text")
		write(p.Text)
	}
	for _, m := range p.Messages {
		write("message")
		write(m.Role)
		write(m.Content)
	}
	h.Sum(sum[:0])
	return sum
}
