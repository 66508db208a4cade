package health

import "time"

// state is what a tool says of one device at one moment. The zero value says
// nothing.
type state struct {
	at       time.Time
	uuid     string // "" where the vendor has none
	bus      string // place on the bus, of NVIDIA: "0000:61:00"
	readings []quantityOf
	// clock and nominal are of the device's cores, in MHz, 0 where not told;
	// nominal is what it keeps when nothing holds it back.
	clock, nominal float64
	busy           float64 // share of the time that it worked, 0 where not told
	capped         bool    // its power limit holds its clock
	// slow is by which of its own words the device is held back at this moment,
	// and held for how many seconds it was, since some time before.
	slow []string
	held map[string]float64
	// untold is what a healthy device would have to tell and this one does not.
	untold []string
	// errors counts uncorrected errors of its memory; counted says that it does.
	errors  float64
	counted bool
	// faults say what the device says is wrong with itself.
	faults []string
	// users are the processes that compute on it; listed says that the tool lists them.
	users  []user
	listed bool
}

// quantityOf is one number to be shown.
type quantityOf struct {
	name, unit string
	value      float64
}

func (s *state) add(name, unit string, v float64, known bool) {
	if known {
		s.readings = append(s.readings, quantityOf{name, unit, v})
	}
}

// user is a process that computes on a device.
type user struct {
	pid int
	mib float64 // of device memory, 0 where it is not told
	kin kin
}

// kin describes whose a process is.
type kin int

const (
	unclear kin = iota // it cannot be seen from here
	ours               // this one, or below it
	others
	gone
)

// maxList bounds lists that tools print.
const maxList = 4096
