// Package harness measures kernels: it has a reference and a solution compute
// the same inputs in two child processes, times both, and keeps what they
// computed for others to judge. It neither reads definitions from files nor
// decides whether an output is right.
//
// # Protocol
//
// A worker is a process that uses the protocol "fib-worker/1": one JSON object a line, a
// request on its standard input, a reply on its standard output, one at a time.
// A request has a number, an operation and the fields of that operation's type
// in this package; the reply repeats the number, says whether it worked, and
// how long the worker was busy with it by its own clock:
//
//	{"seq":4711,"op":"hello","proto":"fib-worker/1"}
//	{"seq":4711,"ok":true,"kind":"go","proto":"fib-worker/1","pid":42,...,"host_ns":81250}
//	{"seq":9023,"op":"build","id":"s","language":"python",...}
//	{"seq":9023,"ok":false,"error":{"kind":"compile","message":"...","trace":"..."},"host_ns":910}
//
// Numbers rise, are below 2^53 and cannot be guessed, so that no reply can be
// written before its request was read. Both sides ignore fields that they do
// not know. Unasked, a worker may write events, which have no number:
//
//	{"event":"alive"}
//	{"event":"log","text":"loading the model"}
//
// It must write alive at least every second while it works, from a thread of
// its own: that is what tells a long kernel from a dead worker. Anything else on
// the standard output ends the worker and is blamed on it. A worker therefore
// moves its standard output to a private descriptor and points descriptors 1
// and 2 at its standard error before it imports or loads anything foreign. What
// comes on the standard error is log. A worker exits when its input ends.
//
// # Operations
//
//	hello    [Hello]    [HelloReply]    first of all; says what the worker can do
//	build    [Build]    [BuildReply]    makes a function ready under an id
//	setup    [Setup]    -               has a function prepared for a workload
//	tensor   [Tensor]   [TensorReply]   makes or overwrites a tensor under a name
//	run      [Run]      [RunReply]      calls a function and saves what it computed
//	save     [Save]     [RunReply]      saves tensors as they are
//	time     [Time]     [TimeReply]     calls a function many times and times each call
//	observe  [Observe]  [ObserveReply]  says what the device itself needed for calls
//	check    -          [CheckReply]    does the device still compute?
//	release  [Release]  -               frees tensors
//	exit     -          -               replies, then exits
//
// The replies to setup, tensor, run, save, time and observe are written only when the whole
// device is idle, all streams included. After a reply with an error of a kind
// other than oom and runtime the worker goes on as if it had not been asked;
// after those two the caller asks it to check the device.
//
// # What a solution can do
//
// The solution runs in its worker's process, whose every word is therefore
// untrusted. What is caught, and by what:
//
//   - printing to the standard output, replies to other requests, exiting,
//     hanging, leaving processes behind: [Session] and package worker;
//   - outputs of another dtype, shape or count than the definition's, or none:
//     [Measure], from the saved files and not from what the worker says;
//   - outputs that do not depend on the inputs, are cached from earlier inputs,
//     or are written only outside of timing: inputs change with every set and
//     every trial, outputs are poisoned before every call, and slots chosen
//     after the timing are judged once more;
//   - results that are kept for inputs that were there before, and calls that are
//     left out: between the blocks of a trial, requests call the function once with
//     each of some sets that are new, and only afterwards [Measure] chooses which
//     outputs to ask for. What such a call takes by our clock is compared with the
//     calls of the blocks around;
//   - results that are computed when an output is asked for, or when an input
//     comes: these requests are timed as well;
//   - outputs that a setup computes: it gets shapes, numbers and indices as the calls
//     do, and other random values. It is refused where no input is random;
//   - a timer that lies: what is reported comes from our clock. What the worker
//     says of its calls is evidence;
//   - calls that are faster than memory allows, on CPUs;
//   - writing to the memory of the reference's worker, on Linux: that one is not
//     dumpable ([Hello].Private), and workers in Python and C give up
//     CAP_SYS_PTRACE and CAP_PERFMON, which root has, before they load anything
//     foreign;
//   - changing the file that the reference saved: its digest comes over the pipe.
//
// What is not caught: a solution that takes its worker over, so that it writes
// consistent replies of its own without computing, and computes only what it is
// asked to save. What cannot be prevented: a process of the same user may read
// the files of this one and change those of the dataset, and root can do
// anything to a machine by other ways than memory. [Measure] keeps the
// reference's outputs in files only while the solution has nothing to do, and
// has them freed before the solution is asked to compute the same. Whoever needs
// more runs the workers in containers or as different users.
package harness
