package detect

// JudgeRun judges the cells of one run: those of pairs by [JudgeStages], all
// others by [JudgeGroup]. Both together hold falseAlarms (0 is
// [DefaultFalseAlarms]): where there are both, each gets half.
func JudgeRun(cells []Cell, s Stages, falseAlarms float64) Report {
	falseAlarms = positive(falseAlarms, DefaultFalseAlarms)
	var paired, others []Cell
	for _, c := range cells {
		if c.Options.mode() == Interleaved {
			paired = append(paired, c)
		} else {
			others = append(others, c)
		}
	}
	if len(paired) > 0 && len(others) > 0 {
		falseAlarms /= 2
	}
	pairs, r := JudgeStages(paired, s, falseAlarms), JudgeGroup(others, falseAlarms)
	rest := r.Cells
	r.Cells = make([]Evidence, len(cells))
	for i, c := range cells {
		from := &rest
		if c.Options.mode() == Interleaved {
			from = &pairs
		}
		r.Cells[i], *from = (*from)[0], (*from)[1:]
	}
	return r
}
