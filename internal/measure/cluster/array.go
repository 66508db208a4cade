// Package cluster is about the batch systems that place and queue the jobs of a matrix, Slurm and Kubernetes: what is
// submitted to one, what it gave to this process, and what became of jobs. It submits, retries and ends no job.
package cluster

import (
	"strings"
	"time"
)

// Folder is where shards leave their folders, in the folder that the jobs share.
const Folder = "runs"

// Array is the jobs of one host: one for each shard.
type Array struct {
	Name   string // of the job, as [JobName] returns it
	Host   string // label
	Shards int
	Made   string        // the command that printed the array
	Run    string        // the command that measures, without the flags of a shard
	Judge  string        // the command that judges all shards, without their folder
	Folder string        // of this configuration, below which each host has one
	Limit  time.Duration // of a job; 0 where no time is known
	Demand
}

// Demand is what each job of an array needs.
type Demand struct {
	Nodes, Devices  int // Devices of each node
	Vendor, Profile string
	Whole           bool // nodes are not shared with other jobs
}

// JobName is the name of the jobs of a host; configuration is the name of a configuration, "" where a repository has
// one. It is a DNS label, as Kubernetes demands it.
func JobName(configuration, host string) string {
	name := "accelgate-" + host
	if configuration != "" {
		name = "accelgate-" + configuration + "-" + host
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name)
	return strings.Trim(name[:min(len(name), maxName)], "-")
}

// maxName leaves room for what an indexed Job adds to the names of its pods:
// https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode
const maxName = 52
