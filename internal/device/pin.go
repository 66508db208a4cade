package device

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// pinning is how a vendor's runtime gets the devices that a process may see.
type pinning struct {
	variable string   // takes a list of ids
	beside   []string // NAME=VALUE entries that give the ids their meaning
	// clashing variables select devices as well, in a numbering that shifts
	// the one of variable.
	clashing []string
	id       *lazyregexp.Regexp
	example  string
	// check refuses numbers of variable that may not be those of the vendor's tool. Nil: they are.
	check func(value string, h bench.Host, environ []string) error
}

var index = lazyregexp.New(`^(0|[1-9][0-9]{0,2})$`)

// pinningOf is false for a vendor that is unknown, and for one whose devices need no pinning.
func pinningOf(name string) (pinning, bool) {
	if v := vendorNamed(name); v != nil && v.pin.variable != "" {
		return v.pin, true
	}
	return pinning{}, false
}

// Pin returns the NAME=VALUE entries that make a child see this device and no
// other of its vendor. A CPU and an Apple GPU need none. The device must be
// one that [Devices] returned.
func Pin(d bench.Device) []string {
	p, ok := pinningOf(d.Vendor)
	if !ok || d.ID == "" {
		return nil
	}
	return append(slices.Clone(p.beside), p.variable+"="+d.ID)
}

// resolve applies the restriction under which this process itself runs. The
// variables of a child replace those of its parent, so a child that is pinned
// by a number of the whole host could leave the devices that a scheduler
// meant for this process.
func (p pinning) resolve(d bench.Device, h bench.Host, environ []string) (bench.Device, error) {
	for _, name := range p.clashing {
		if value, ok := worker.LookupEnv(environ, name); ok {
			return d, fmt.Errorf("%s=%s selects %s devices beside %s, and each renumbers what the other leaves: "+
				"start accelgate without it, or with %s in its place", name, text.Quote(value, 80), d.Vendor, p.variable, p.variable)
		}
	}
	value, ok := worker.LookupEnv(environ, p.variable)
	if !ok {
		return d, nil
	}
	visible := p.visible(value)
	if !index.MatchString(d.ID) {
		return d, p.checkListed(d, visible, value)
	}
	i, _ := strconv.Atoi(d.ID)
	if i >= len(visible) {
		return d, fmt.Errorf("%s=%s leaves %s to this process: count within that list from 0, or start accelgate without the variable",
			p.variable, text.Quote(value, 80), text.Plural(len(visible), "device"))
	}
	d.ID = visible[i]
	if p.check != nil && index.MatchString(d.ID) {
		return d, p.check(value, h, environ)
	}
	return d, nil
}

// visible returns the ids of a variable's value up to the first that is none:
// CUDA ignores all that follows, and "" and "-1" are the usual ways to hide
// every device.
func (p pinning) visible(value string) []string {
	var ids []string
	for id := range strings.SplitSeq(value, ",") {
		id = strings.TrimSpace(id)
		if !p.id.MatchString(id) || len(ids) == maxDevices {
			break
		}
		ids = append(ids, id)
	}
	return ids
}

// checkListed refuses a UUID that is not in the list, or may be there as a
// number.
func (p pinning) checkListed(d bench.Device, visible []string, value string) error {
	for _, id := range visible {
		if !index.MatchString(id) && (strings.HasPrefix(id, d.ID) || strings.HasPrefix(d.ID, id)) {
			return nil
		}
	}
	return fmt.Errorf("it is not in the list of %s=%s: count within that list from 0, or start accelgate without the variable",
		p.variable, text.Quote(value, 80))
}
