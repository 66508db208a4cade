// Package gate decides. It compares a [bench.Run] with a reference Run under a [Policy], gives each cell and metric a
// [Verdict] (finding, certainty and excuse), and sums them up in one [Decision]. The files of a suite may judge a cell
// as well ([bench.Expected]): its total by recorded ones, and its operators by the kind of the suite ([OperatorJudge]),
// which yields a [compat.Check] beside the verdicts. The package is pure: it reads no file, renders nothing and exits
// nowhere, and nothing after it changes its decision. It names no metric; package compat has the table of rules that
// other tools lack or replace.
//
// # A cell in the gate
//
// Package gate reads both sides once, tests all series together, and then judges each cell. No step changes an
// earlier result.
//
//  1. Compare (compare.go) calls these steps in order.
//  2. newInputs (inputs.go) joins each result with the reference's; a cell with an impossible value fails. machines
//     (machine.go) decides whether speed may be judged by this reference. lacks (missing_metrics.go) lists the
//     missing metrics of each cell.
//  3. testCells (tests_of_cells.go) chooses pairs, history or two sessions for each series, and detect tests them
//     together. hostShiftOf (host_shift.go) judges a change that all cells share.
//  4. judgeCell (cell.go) judges one cell. byOutcome (cell.go) settles cells that were skipped, that failed, or that
//     have neither reference nor pairs.
//  5. judgeExpected (expected.go) compares a case with its file: judgeTotal (total.go) the time, and the kind of the
//     suite the operators (Policy.operators, operators.go), without a decision.
//  6. known (cell.go) refuses a cell that was measured under other conditions than its reference.
//  7. judgeSpeed (cell.go) calls judgeMetric (metric.go) for each metric: byTest (tests_of_cells.go), else byBase
//     (metric.go), else byThreshold (metric.go). plausible (plausible.go) blocks changes that no code makes.
//  8. confirm (reliability.go) removes regressions that another metric must confirm and does not. anchors
//     (anchor.go) finds small losses that add up.
//  9. bounded (bounds.go) blocks medians beyond min and max. unreported (missing_metrics.go) blocks missing metrics.
//     underHost (health.go) leaves losses without pairs undecided on an unhealthy host.
//  10. judgeCells (compare.go) collects the verdicts in the order of the run. absent (missing_cells.go) adds cells
//     that the run lacks.
//  11. waive (waive.go), trade (trade.go), failsOnBranch (failing.go), quarantine (quarantine.go) and advise
//     (advisory.go) add excuses, Policy.Blocks decides what blocks, and sharedLosses (shared_loss.go) marks shared
//     losses.
//  12. uncompared (uncompared.go), noiseOf (noise.go) and powerOf (power.go) sum up the verdicts. Decide (decide.go)
//     takes the Comparisons of all hosts.
//
// Tool.Rules (compat/rules.go) lists which of these steps policy.compat removes or replaces. With compat:
// tensorsharp, byTool (by_tool.go) replaces byOutcome and steps 5 to 8, and inOrder (by_tool.go) sorts the
// verdicts before step 11. caseGroups (case_group.go) judges groups of cases after step 10. With compat:
// msmodeling, totalByTool (by_tool.go) replaces judgeTotal.
package gate
