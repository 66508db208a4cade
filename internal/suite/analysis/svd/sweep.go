package svd

// rotation is a plane rotation by c (cosine) and s (sine).
type rotation struct{ c, s float64 }

// sweep holds the rotations of one QR iteration. Rotation k acts on the rows
// first+k*step and first+(k+1)*step; step is 1 or -1.
type sweep struct {
	first, step int
	left, right []rotation
}

// position returns where on its way through the matrix rotation 0 is.
func (s sweep) position() int { return s.first * s.step }

// groupSweeps is how many sweeps are applied at a time: more would save
// memory traffic, but not fit the first level cache, see strip.
const groupSweeps = 16

// group gathers sweeps in one direction.
type group struct{ sweeps []sweep }

// waves calls visit for every rotation, by sweep and index, so that each comes
// after all it depends on and near to those that share its rows: a sweep
// follows one position behind the one before it. Rotation k of a sweep needs
// the earlier sweeps' rotations up to one position further, so this is as close
// as they can get.
func (g *group) waves(visit func(s *sweep, k int)) {
	if len(g.sweeps) == 0 {
		return
	}
	begin := g.sweeps[0].position()
	end := begin
	for i, s := range g.sweeps {
		begin = min(begin, s.position()+i)
		end = max(end, s.position()+i+len(s.left))
	}
	for t := begin; t < end; t++ {
		for i := range g.sweeps {
			s := &g.sweeps[i]
			if k := t - i - s.position(); k >= 0 && k < len(s.left) {
				visit(s, k)
			}
		}
	}
}
