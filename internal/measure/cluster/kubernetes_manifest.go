package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
)

const (
	hostLabel   = "accelgate/host" // of nodes, with the label of a host
	sharedClaim = "accelgate-runs"
	sharedMount = "/" + Folder
	attempts    = 3               // of a pod, after the first
	lastMinutes = 5 * time.Minute // from the end of the budget to that of the pod
)

// KubernetesManifest writes an array as an indexed Job.
func KubernetesManifest(w io.Writer, a *Array, on *config.Kubernetes) error {
	var b strings.Builder
	line := func(depth int, format string, args ...any) {
		fmt.Fprintf(&b, strings.Repeat("  ", depth)+format+"\n", args...)
	}
	line(0, "# Printed by: %s", a.Made)
	line(0, "# Submit and wait: kubectl create -f FILE && kubectl wait --for=condition=complete --timeout=2h job/%s", a.Name)
	line(0, "# Judge all shards, where the volume is mounted: %s FOLDER", a.Judge)
	line(0, "apiVersion: batch/v1")
	line(0, "kind: Job")
	line(0, "metadata:")
	line(1, "name: %s", a.Name)
	line(0, "spec:")
	line(1, "completionMode: Indexed")
	line(1, "completions: %d", a.Shards)
	line(1, "parallelism: %d", a.Shards)
	line(1, "backoffLimitPerIndex: %d", attempts)
	line(1, "template:")
	line(2, "metadata:")
	line(3, "labels: {accelgate: %s}", a.Name)
	line(2, "spec:")
	line(3, "restartPolicy: Never")
	if a.Limit > 0 {
		line(3, "activeDeadlineSeconds: %d", int((a.Limit + lastMinutes).Seconds()))
	}
	line(3, "nodeSelector:")
	nodes := on.Nodes
	if nodes == nil {
		nodes = map[string]string{hostLabel: a.Host}
	}
	for _, key := range slices.Sorted(maps.Keys(nodes)) {
		line(4, "%s: %s", quoted(key), quoted(nodes[key]))
	}
	if a.Whole {
		line(3, "affinity: # one shard on a node at a time")
		line(4, "podAntiAffinity:")
		line(5, "requiredDuringSchedulingIgnoredDuringExecution:")
		line(6, "- topologyKey: kubernetes.io/hostname")
		line(7, "labelSelector: {matchExpressions: [{key: accelgate, operator: Exists}]}")
	}
	a.container(line, on.Image)
	line(3, "volumes:")
	line(4, "- name: runs")
	line(5, "persistentVolumeClaim: {claimName: %s}", sharedClaim)
	_, err := io.WriteString(w, b.String())
	return err
}

// container writes the one container of a pod. A pod that takes the place of another finds its journal, and the key
// that signed it, in the folder of the Job in the shared volume.
func (a *Array) container(line func(int, string, ...any), image string) {
	line(3, "containers:")
	line(4, "- name: accelgate")
	line(5, "image: %s", quoted(image))
	line(5, "command: [sh, -c]")
	line(5, "args:")
	line(6, "- |")
	line(7, "shard=$((JOB_COMPLETION_INDEX + 1))")
	line(7, `%s \`, a.Run)
	budget := ""
	if a.Limit > 0 {
		budget = fmt.Sprintf(" --budget %dm", int(a.Limit/time.Minute))
	}
	line(7, `  --shard "$shard/%d" --out "%s/%s/$shard-of-%[1]d" --resume%[4]s ||`, a.Shards, sharedMount, a.Host, budget)
	line(7, "  test $? = 1 # the gate failed: accelgate report judges all shards")
	line(5, "env:")
	line(6, "- {name: XDG_STATE_HOME, value: %s/.state}", sharedMount)
	line(6, "- name: JOB_UID")
	line(7, `valueFrom: {fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']"}}`)
	if name := device.Resource(a.Vendor, a.Profile); a.Devices > 0 && name != "" {
		line(5, "resources:")
		line(6, "limits: {%s: %d}", name, a.Devices)
	}
	line(5, "volumeMounts:")
	line(6, "- {name: runs, mountPath: %s, subPathExpr: $(JOB_UID)}", sharedMount)
}

// quoted writes a text as a scalar of YAML, of which JSON's are some.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(data)
}
