package health

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// xid finds what NVIDIA's driver writes to the kernel's log, such as "NVRM: Xid
// (PCI:0000:61:00): 79, pid=4242, name=python3, GPU has fallen off the bus."
var xid = lazyregexp.New(`NVRM: Xid \(PCI:([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})[^)]*\): ([0-9]{1,4})\b`)

// brokenXID are the numbers about a device and not about a program: errors of
// memory (48, 63, 64, 92, 94, 95, 140), of controllers on it (61, 62, 119, 120), of
// its links (74), and its loss (79). See NVIDIA's "XID Errors".
var brokenXID = []string{"48", "61", "62", "63", "64", "74", "79", "92", "94", "95", "119", "120", "140"}

// parseXIDs returns what the kernel's log reports about broken devices, in words by the
// devices' places on the bus.
func parseXIDs(log []byte) map[string][]string {
	words := map[string][]string{}
	for _, found := range xid.FindAllStringSubmatch(string(log), maxList) {
		if !slices.Contains(brokenXID, found[4]) {
			continue
		}
		bus := busOf(found[1] + ":" + found[2] + ":" + found[3])
		fault := fmt.Sprintf("the kernel's log reports its XID %s", found[4])
		if !slices.Contains(words[bus], fault) {
			words[bus] = append(words[bus], fault)
		}
	}
	return words
}

// busOf writes a place on the bus as "0000:61:00", whether it is given as
// "00000000:61:00.0", as nvidia-smi does, or as "0000:61:00"; "" if it is none.
func busOf(place string) string {
	parts := strings.Split(strings.ToLower(strings.TrimSpace(place)), ":")
	if len(parts) != 3 || len(parts[0]) < 4 || len(parts[1]) != 2 || len(parts[2]) < 2 {
		return ""
	}
	return parts[0][len(parts[0])-4:] + ":" + parts[1] + ":" + parts[2][:2]
}
