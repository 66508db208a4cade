package device

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worker"
)

// rocrDevices is the variable by which Slurm gives AMD devices to a job.
const rocrDevices = "ROCR_VISIBLE_DEVICES"

// hidden is a value of the variables for visible devices that leaves none.
const hidden = "-1"

// Allotment returns the devices that a batch system gave to a process by the variables for visible devices, as
// [Devices] takes them, and the environment in which children of the process see no others: a vendor's devices that
// the host has and no variable names are hidden.
//
// Slurm names AMD devices in ROCR_VISIBLE_DEVICES; the same list in HIP_VISIBLE_DEVICES means the same devices, and
// takes its place. Numbers in SLURM_STEP_GPUS and SLURM_JOB_GPUS count where Slurm sets none of the variables.
func Allotment(h bench.Host, environ []string) (ids, children []string) {
	children = slices.Clone(environ)
	if list, ok := worker.LookupEnv(environ, rocrDevices); ok && has(h.Accelerators, AMD) {
		if _, both := worker.LookupEnv(environ, amd.pin.variable); !both {
			children = withoutVariables(children, append([]string{rocrDevices}, amd.pin.clashing...))
			children = append(children, amd.pin.variable+"="+list)
		}
	}
	for _, v := range vendors {
		detected := has(h.Accelerators, v.name)
		if v.pin.variable == "" || !detected && len(h.Accelerators) > 0 {
			continue
		}
		value, named := worker.LookupEnv(children, v.pin.variable)
		if !named && detected {
			value = numbered(h, v, children)
			children = append(children, v.pin.variable+"="+value)
		}
		for i := range v.pin.visible(value) {
			ids = append(ids, v.name+":"+strconv.Itoa(i))
		}
		if !detected && len(ids) > 0 {
			break // without a vendor's tool the lists of several vendors are of the same devices
		}
	}
	return ids, children
}

// numbered is the value of a vendor's variable by Slurm's own numbers, which count within the host. Where the job sees
// its own devices only, they are numbered anew.
func numbered(h bench.Host, v *vendor, environ []string) string {
	list, ok := worker.LookupEnv(environ, "SLURM_STEP_GPUS")
	if !ok {
		list, ok = worker.LookupEnv(environ, "SLURM_JOB_GPUS")
	}
	n, _ := count(h, v.name)
	var ids []string
	renumbered := false
	for _, id := range (pinning{id: index}).visible(list) {
		number, _ := strconv.Atoi(id)
		renumbered = renumbered || number >= n
		ids = append(ids, id)
	}
	if !ok || len(ids) == 0 {
		return hidden
	}
	if renumbered || len(ids) == n {
		ids = ids[:0]
		for i := range n {
			ids = append(ids, strconv.Itoa(i))
		}
	}
	return strings.Join(ids, ",")
}

func withoutVariables(environ, names []string) []string {
	return slices.DeleteFunc(environ, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}
