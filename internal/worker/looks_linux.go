package worker

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// The pauses between looks at the threads of a child: a tenth of its age, so that a look
// costs less than 1 % of one processor.
const (
	minPause  = 10 * time.Millisecond
	ageAPause = 10
)

// maxThreads bounds a look. A tree of more threads is not looked at any more.
const maxThreads = 512

// looks is what a tree of processes did with processors, as its threads show now and
// then: getrusage(2) counts neither waiting nor threads.
type looks struct {
	threads map[int]onProcessor // of all that were seen, by number
	wall    time.Duration       // between looks
	off     time.Duration       // of it, before looks at which no thread was ready
	on      time.Duration       // of it, before looks at which threads were ready and had run
	at      float64             // threads that computed at once, times the part of on
	failed  bool
}

// onProcessor is what schedstat counts of a thread: Documentation/scheduler/sched-stats.rst.
type onProcessor struct{ ran, waited time.Duration }

// lookAt looks at the threads of a child until exited is closed, and returns what it saw.
func lookAt(pid int, exited <-chan struct{}) (seen func(wall time.Duration, u *Usage)) {
	l, done := looks{threads: map[int]onProcessor{}}, make(chan struct{})
	go func() {
		defer close(done)
		started, before := time.Now(), time.Duration(0)
		for {
			select {
			case <-exited:
				return
			case <-time.After(max(minPause, before/ageAPause)):
			}
			age := time.Since(started)
			if !l.look(pid, age-before) {
				return
			}
			before = age
		}
	}()
	return func(wall time.Duration, u *Usage) {
		<-done
		l.sum(wall, u)
	}
}

// look sees all threads once. It returns false where there is no more to see.
func (l *looks) look(pid int, since time.Duration) bool {
	ready, alive := []time.Duration(nil), false // what ready threads ran since the last look
	for todo, n := []int{pid}, 0; len(todo) > 0; {
		tasks := "/proc/" + strconv.Itoa(todo[0]) + "/task/"
		todo = todo[1:]
		eachNumberIn(tasks, func(thread int) {
			if n++; n > maxThreads {
				return
			}
			folder := tasks + strconv.Itoa(thread)
			now, ok := countersIn(folder)
			if !ok {
				return
			}
			alive = true
			if readyIn(folder) {
				ready = append(ready, now.ran-l.threads[thread].ran)
			}
			l.threads[thread] = now
			todo = append(todo, childrenIn(folder)...)
		})
		if l.failed = n > maxThreads; l.failed {
			return false
		}
	}
	if alive {
		l.add(ready, since)
	}
	return alive
}

// add counts one look.
func (l *looks) add(ready []time.Duration, since time.Duration) {
	l.wall += since
	if len(ready) == 0 {
		l.off += since
		return
	}
	sum, squares := 0.0, 0.0
	for _, d := range ready {
		sum, squares = sum+d.Seconds(), squares+d.Seconds()*d.Seconds()
	}
	if squares > 0 {
		l.on += since
		l.at += since.Seconds() * sum * sum / squares // a thread that hardly ran hardly counts
	}
}

// sum adds to a usage what was seen, as if the rest of the wall time was alike.
func (l *looks) sum(wall time.Duration, u *Usage) {
	if l.failed || l.wall == 0 {
		return
	}
	u.Looked = true
	for _, t := range l.threads {
		u.Waited += t.waited
	}
	u.Off = time.Duration(float64(wall) * float64(l.off) / float64(l.wall))
	if l.on > 0 {
		u.Threads = max(1, l.at/l.on.Seconds()) // sums are rounded: one thread gave 0.9999999999999999
	}
}

// countersIn reads schedstat of a thread. ok is false where it ended, or on kernels without
// CONFIG_SCHED_INFO.
func countersIn(folder string) (c onProcessor, ok bool) {
	stat, _ := os.ReadFile(folder + "/schedstat")
	fields := bytes.Fields(stat)
	if len(fields) < 2 {
		return c, false
	}
	ran, err := strconv.ParseInt(string(fields[0]), 10, 64)
	waited, err2 := strconv.ParseInt(string(fields[1]), 10, 64)
	return onProcessor{time.Duration(ran), time.Duration(waited)}, err == nil && err2 == nil && ran > 0
}

// readyIn reports whether a thread runs or is ready to run: state R of proc_pid_stat(5).
func readyIn(folder string) bool {
	stat, _ := os.ReadFile(folder + "/stat")
	fields := statFields(string(stat))
	return len(fields) > 0 && fields[0] == "R"
}

func childrenIn(folder string) (pids []int) {
	list, _ := os.ReadFile(folder + "/children")
	for field := range bytes.FieldsSeq(list) {
		pids = append(pids, number(field))
	}
	return pids
}
