package inferencebench

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

var hashName = lazyregexp.New(`^(?:[A-Za-z0-9._]+-)?([0-9a-f]{12})\.json$`)

// VerifyName returns an error unless the file's name, without its folder, ends in
// the beginning of the envelope's content hash. A file that was edited under its
// name has another hash.
func VerifyName(name string, data []byte) error {
	found := hashName.FindStringSubmatch(name)
	if found == nil {
		return fmt.Errorf(
			"the name %.80q holds no hash to verify the content by: name the file as it was written, as in c16-0123456789ab.json", name)
	}
	hash, err := ContentHash(data)
	if err != nil {
		return err
	}
	if hash[:len(found[1])] != found[1] {
		return fmt.Errorf("the content has the hash %s and the name says %s, so the file was edited or renamed: take the original",
			hash[:len(found[1])], found[1])
	}
	return nil
}
