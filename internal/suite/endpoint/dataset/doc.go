// Package dataset holds what a benchmark of an endpoint asks: datasets of
// prompts, and what of them a server's prefix cache may find. It sends nothing
// and is independent of schedules.
//
// A [Spec] says where prompts come from, [Load] returns them as a [Dataset],
// and [Dataset.Sequence] puts them into the order of requests under a [Policy]:
//
//	builtin        10 chat questions, 10 beginnings of source files, or
//	               generated documents with a question
//	random         words without meaning, of a fixed, uniform or lognormal number
//	lognormal      the same, lognormal unless said otherwise
//	shared-prefix  groups of prompts that begin alike
//	jsonl          {"prompt"} or {"messages"} on each line, with "output_tokens"
//	               or "max_tokens" where an answer's length matters
//	sharegpt       ShareGPT's conversations: the first question of each
//	trace          {"timestamp", "input_length", "output_length", "hash_ids"}
//	               on each line: generated text that repeats by block where
//	               the recorded prompts did; or Azure's and BurstGPT's tables
//
// # Lengths
//
// Generated text is made of common English words of two to six letters.
// Lengths of prompts are numbers of these words, each about one token in the
// vocabularies in use; templates and nonces come on top. How many tokens a
// prompt has is for the server to say in its usage, and that is what should be
// reported. Lengths of answers are tokens, because they are asked for as such.
//
// # The same prompts again
//
// A Spec and the files it names decide every byte: numbers come from PCG-DXSM,
// which is specified, through mappings of this package. [Dataset.Hash] is over
// the text, output length and arrival of every prompt, and its algorithm is a
// part of the interface: two results with equal hashes were asked the same. A
// larger N of a generated dataset begins with the prompts of a smaller one.
//
// Generated text is written when it is asked for, so that a trace of a
// gigabyte takes a few megabytes.
//
// # Nothing is substituted
//
// A file that is missing, malformed or too short is an error. So is a field
// that a kind does not have, and a cache policy that is not named.
package dataset
