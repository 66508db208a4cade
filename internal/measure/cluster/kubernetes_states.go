package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/worker"
)

// pods is the part of a PodList that states are read from.
type pods struct {
	Items []struct {
		Metadata struct {
			Name              string            `json:"name"`
			CreationTimestamp time.Time         `json:"creationTimestamp"`
			Labels            map[string]string `json:"labels"`
			Annotations       map[string]string `json:"annotations"`
		} `json:"metadata"`
		Status struct {
			Phase             string `json:"phase"`
			Reason            string `json:"reason"`
			ContainerStatuses []struct {
				State struct {
					Waiting    *ended `json:"waiting"`
					Terminated *ended `json:"terminated"`
				} `json:"state"`
			} `json:"containerStatuses"`
			Conditions []struct {
				Type   string `json:"type"`
				Status string `json:"status"`
				Reason string `json:"reason"`
			} `json:"conditions"`
		} `json:"status"`
	} `json:"items"`
}

type ended struct {
	Reason   string `json:"reason"`
	ExitCode int    `json:"exitCode"`
}

// queryKubernetes has kubectl list the pods of the Job with this name in the namespace of its context.
func queryKubernetes(ctx context.Context, w worker.Worker, name string, ids []string) (States, string) {
	out, trouble, ok := answer(ctx, w, "kubectl", "get", "pods", "--selector=batch.kubernetes.io/job-name="+name, "--output=json")
	if !ok {
		return nil, trouble
	}
	of, err := kubernetesPods(out, ids)
	if err != nil {
		return nil, fmt.Sprintf("kubectl: its output is not the JSON that was asked for: %v", err)
	}
	return of, ""
}

// kubernetesPods reads a PodList. The newest pod of each index counts.
func kubernetesPods(data []byte, ids []string) (States, error) {
	var list pods
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	of := States{}
	for i := range list.Items {
		m, s := &list.Items[i].Metadata, &list.Items[i].Status
		if len(ids) > 0 && !slices.Contains(ids, m.Labels["batch.kubernetes.io/controller-uid"]) {
			continue
		}
		index, err := strconv.Atoi(m.Annotations["batch.kubernetes.io/job-completion-index"])
		if err != nil || index < 0 || index >= matrix.MaxShards {
			continue
		}
		reason := word(s.Reason)
		for _, c := range s.Conditions {
			if c.Status == "False" && s.Phase == "Pending" {
				reason = cmp.Or(reason, word(c.Reason))
			}
		}
		for _, c := range s.ContainerStatuses {
			if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
				reason = cmp.Or(reason, fmt.Sprintf("%s, exit code %d", word(t.Reason), t.ExitCode))
			}
			if c.State.Waiting != nil {
				reason = cmp.Or(word(c.State.Waiting.Reason), reason)
			}
		}
		what := word(s.Phase)
		if reason != "" {
			what += " (" + reason + ")"
		}
		of.put(index+1, State{Job: word(m.Name), What: what, array: uint64(max(m.CreationTimestamp.Unix(), 0))})
	}
	return of, nil
}
