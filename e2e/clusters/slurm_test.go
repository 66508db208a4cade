package clusters_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// patience bounds waiting for what Slurm does within seconds on a quiet host.
const patience = 3 * time.Minute

// slurm is a Slurm of its own: a controller and two nodes on this host, each with two GPUs that are files.
type slurm struct {
	dir string
	env []string // for commands of Slurm and of accelgate
}

const slurmConf = `ClusterName=test
SlurmctldHost=HOST(127.0.0.1)
SlurmctldPort=PORT0
SlurmUser=USER
SlurmdUser=USER
AuthType=auth/munge
AuthInfo=socket=DIR/munge.sock
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool-%n
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd-%n.pid
SlurmctldLogFile=DIR/slurmctld.log
SlurmdLogFile=DIR/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
GresTypes=gpu
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
KillWait=5
NodeName=n1 NodeHostname=HOST NodeAddr=127.0.0.1 Port=PORT1 CPUs=4 Gres=gpu:2
NodeName=n2 NodeHostname=HOST NodeAddr=127.0.0.1 Port=PORT2 CPUs=4 Gres=gpu:2
PartitionName=gpu Nodes=n1,n2 Default=YES MaxTime=60 State=UP
`

// nvidiaSMI lists the GPUs of a node, which no other node has.
const nvidiaSMI = `#!/bin/sh
case "$*" in
  --query-gpu=name,*) for i in 0 1; do echo "NVIDIA H100 80GB HBM3, 81559, 570.86.15"; done ;;
  --query-gpu=index,uuid*) for i in 0 1; do echo "$i, GPU-${i}0aa0000-0000-0000-0000-00000000000${SLURMD_NODENAME#n}"; done ;;
  --query-compute-apps*) ;;
  *) exit 2 ;;
esac
`

func startSlurm(t *testing.T) *slurm {
	t.Helper()
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch", "srun"} {
		if _, err := exec.LookPath(program); err != nil {
			testtier.Missing(t, "jobs of Slurm were NOT tested: there is no "+program+"; install slurm-wlm and munge, as .ci/packages does")
		}
	}
	s := &slurm{dir: t.TempDir()}
	s.configure(t)
	socket := filepath.Join(s.dir, "munge.sock")
	s.daemon(t, "munged", "--foreground", "--force", "--socket="+socket, "--key-file="+filepath.Join(s.dir, "munge.key"),
		"--pid-file="+filepath.Join(s.dir, "munge.pid"),
		"--log-file="+filepath.Join(s.dir, "munge.log"), "--seed-file="+filepath.Join(s.dir, "munge.seed"))
	s.await(t, "munged", func() bool { _, err := os.Stat(socket); return err == nil })
	conf := filepath.Join(s.dir, "slurm.conf")
	s.daemon(t, "slurmctld", "-D", "-i", "-f", conf)
	for _, node := range []string{"n1", "n2"} {
		s.daemon(t, "slurmd", "-D", "-f", conf, "-N", node)
	}
	s.await(t, "two idle nodes", func() bool {
		out, err := s.command(t, s.dir, "sinfo", "--noheader", "--format=%T %D").Output()
		return err == nil && string(out) == "idle 2\n"
	})
	t.Cleanup(func() { // before the daemons end
		user := "--user=" + strconv.Itoa(os.Getuid())
		_ = exec.Command("env", append(s.env, "scancel", "--signal=KILL", "--full", "--state=RUNNING", user)...).Run()
		_ = exec.Command("env", append(s.env, "scancel", user)...).Run()
	})
	return s
}

// configure writes the files of the daemons, and the tool of the nodes' vendor.
func (s *slurm) configure(t *testing.T) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	replace := []string{"HOST", host, "DIR", s.dir, "USER", strconv.Itoa(os.Getuid())}
	for i, port := range freePorts(t, 3) {
		replace = append(replace, fmt.Sprintf("PORT%d", i), port)
	}
	gres := ""
	for _, node := range []string{"n1", "n2"} {
		gres += "NodeName=" + node + " Name=gpu File=" + filepath.Join(s.dir, node, "gpu[0-1]") + "\n"
		if err := os.Mkdir(filepath.Join(s.dir, node), 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 2 { // Slurm demands a device
			if err := os.Symlink(os.DevNull, filepath.Join(s.dir, node, fmt.Sprintf("gpu%d", i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, content := range map[string]string{
		"slurm.conf": strings.NewReplacer(replace...).Replace(slurmConf), "gres.conf": gres, "cgroup.conf": "CgroupPlugin=cgroup/v1\n",
		"munge.key": strings.Repeat("a key of the test ", 10), "bin/nvidia-smi": nvidiaSMI, "state/.keep": "",
	} {
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"SLURM_CONF=" + filepath.Join(s.dir, "slurm.conf"),
		"PATH=" + filepath.Join(s.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"XDG_STATE_HOME=" + filepath.Join(s.dir, "home"), "ACCELGATE_LEASES=" + filepath.Join(s.dir, "leases"), "ACCELGATE_HEALTH=off",
	}
}

// freePorts are ports of this host that nothing listens on.
func freePorts(t *testing.T, n int) (ports []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports
}

// daemon runs a program until the test ends, and shows its output if the test fails.
func (s *slurm) daemon(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", strings.Join(args, " "), out.String())
		}
	})
}

// command is one with this Slurm.
func (s *slurm) command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path := args[0]
	if found, err := exec.LookPath(path); err == nil {
		path = found
	}
	cmd := exec.CommandContext(t.Context(), path, args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), s.env...)
	return cmd
}

// await waits until something is true.
func (s *slurm) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			jobs, _ := s.command(t, s.dir, "scontrol", "--oneliner", "show", "job").Output()
			t.Fatalf("no %s within %v; jobs:\n%s", what, patience, jobs)
		}
	}
}
