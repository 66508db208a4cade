package cluster

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/device"
)

// SlurmScript writes the job script of an array. The given options of sbatch win over those that follow from the
// array; "--gres=gpu:h100", without a count, gets that of the devices.
func SlurmScript(w io.Writer, a *Array, given []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/bash\n# Printed by: %s\n", a.Made)
	fmt.Fprintf(&b, "# Submit and wait: rm -rf %s/%s; sbatch --wait FILE\n# Judge all shards: %[3]s %[1]s\n", a.Folder, a.Host, a.Judge)
	for _, option := range a.options(given) {
		fmt.Fprintf(&b, "#SBATCH %s\n", option)
	}
	fmt.Fprintf(&b, `set -euo pipefail

shard=$SLURM_ARRAY_TASK_ID
%s \
  --shard "$shard/%d" --out "%s/%s/$shard-of-%[2]d" \
  ${SLURM_RESTART_COUNT:+--resume} "$@" ||
  test $? = 1 # the gate failed: accelgate report judges all shards
`, a.Run, a.Shards, a.Folder, a.Host)
	_, err := io.WriteString(w, b.String())
	return err
}

// options are those of sbatch, the given ones last.
func (a *Array) options(given []string) []string {
	options := []string{
		"--job-name=" + a.Name,
		fmt.Sprintf("--array=1-%d", a.Shards),
		"--requeue",
		fmt.Sprintf("--nodes=%d", max(a.Nodes, 1)),
	}
	if a.Nodes > 1 {
		options = append(options, fmt.Sprintf("--ntasks-per-node=%d", max(a.Devices, 1)))
	}
	gres := ""
	if a.Devices > 0 {
		gres = device.Gres(a.Vendor, a.Profile, strconv.Itoa(a.Devices))
	}
	if gres != "" {
		options = append(options, "--gres="+gres)
	}
	if a.Whole {
		options = append(options, "--exclusive")
	}
	if a.Limit > 0 {
		options = append(options, fmt.Sprintf("--time=%d", int(a.Limit/time.Minute)))
	}
	for _, option := range given {
		name, value, _ := strings.Cut(option, "=")
		options = slices.DeleteFunc(options, func(own string) bool { return own == name || strings.HasPrefix(own, name+"=") })
		if name == "--gres" && gres != "" && !counted(value) {
			option += ":" + strconv.Itoa(a.Devices)
		}
		options = append(options, option)
	}
	return options
}

// counted reports whether a list of resources states how many of the last one.
func counted(gres string) bool {
	last := gres[strings.LastIndexAny(gres, ":,")+1:]
	_, err := strconv.Atoi(last)
	return err == nil
}
