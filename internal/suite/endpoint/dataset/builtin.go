package dataset

import "strings"

// literals returns the prompts of a built-in set that are written out, nil for
// other sets.
func literals(set string) []string {
	switch set {
	case ChatSet:
		return chat
	case CodeSet:
		return code
	}
	return nil
}

func countWords(text string) (n int) {
	for range strings.FieldsSeq(text) {
		n++
	}
	return n
}

var chat = []string{
	"My neighbour's cat sleeps on our doormat every night. Why might it have picked that spot?",
	"Suggest a three-day walking route for someone who has never hiked before, and say what to pack.",
	"What is the difference between a boiler and a heat pump? Keep it to one paragraph.",
	"Write a polite note to a colleague who keeps borrowing my stapler.",
	"I have rice, two eggs and half a cabbage. What can I cook in twenty minutes?",
	"Explain to a ten-year-old why ships made of steel float.",
	"List the steps to change the inner tube of a bicycle tyre.",
	"Which questions should I ask before I rent a flat in a city that I do not know?",
	"Tell me a short story about a lighthouse keeper who learns to paint.",
	"How do I decide between paying off a loan early and putting the money aside?",
}

var code = []string{
	"# Python 3\ndef merge_intervals(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:\n" +
		"    \"\"\"Join intervals that overlap or touch; the result is sorted.\"\"\"\n",
	"package ring\n\n// Buffer keeps the last n values that were added.\ntype Buffer struct {\n\tvalues []float64\n\tnext   int\n" +
		"}\n\n// Add puts v in place of the oldest value.\nfunc (b *Buffer) Add(v float64) {\n",
	"// TypeScript\n/** Calls fn at most once in each period of ms, with the newest arguments. */\n" +
		"export function throttle<A extends unknown[]>(fn: (...args: A) => void, ms: number): (...args: A) => void {\n",
	"/// Returns the longest common prefix of all words.\nfn common_prefix<'a>(words: &[&'a str]) -> &'a str {\n",
	"-- Tables: orders(id, customer_id, placed_at, total), customers(id, name)\n" +
		"-- For each customer the month with the highest total, newest month first on ties.\nWITH monthly AS (\n",
	"#include <stddef.h>\n\n/* Rotates the n elements of a to the left by k places, in place and without other memory. */\n" +
		"void rotate_left(int *a, size_t n, size_t k) {\n",
	"// Java 21\nfinal class Matrix {\n    private final double[][] cells;\n\n" +
		"    /** Returns the product of this matrix and other. */\n    Matrix times(Matrix other) {\n",
	"#!/usr/bin/env bash\nset -euo pipefail\n# Prints the ten largest files below the folder $1, largest first, with sizes that people can read.\n",
	"# Ruby\n# Parses a line such as 'level=warn msg=\"disk full\" free=12' into a hash.\ndef parse_pairs(line)\n",
	"// C++20\n#include <string_view>\n\n// Tells whether every bracket in text is closed by one of its own kind.\nbool balanced(std::string_view text) {\n",
}

// preamble and questions stand around a generated document.
const preamble = "Read the text between this line and the question, and answer from it alone.\n\n"

var questions = []string{
	"Question: which five words of the text name something that can be eaten?",
	"Question: what does the second half of the text mention that the first does not?",
	"Question: summarise the text in two sentences.",
	"Question: which words occur more than twice?",
	"Question: which person or profession is named first?",
	"Question: does the text mention a season, and where?",
	"Question: name three verbs of motion in the order of the text.",
	"Question: which part of the text would you leave out, and why?",
	"Question: what is the last building that the text names?",
	"Question: quote the passage that is nearest to a statement about work.",
}
