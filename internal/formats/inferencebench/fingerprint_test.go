package inferencebench

import (
	"errors"
	"fmt"
)

// FingerprintHash returns what hardware_fingerprint.fingerprint_sha256 of an
// envelope should be: the SHA-256, in hex, of the canonical form of the other
// members, with the GPUs sorted by pci_id. Members that v1 leaves out count as
// empty.
func FingerprintHash(data []byte) (string, error) {
	v, err := read(data)
	if err != nil {
		return "", fmt.Errorf("envelope: %w", err)
	}
	hardware, ok := v.get("hardware_fingerprint")
	if !ok || hardware.kind != object {
		return "", errors.New("envelope: hardware_fingerprint is missing: see whether this is the right file")
	}
	return hardware.fingerprint(), nil
}
