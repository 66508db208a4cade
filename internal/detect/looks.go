package detect

// What two looks at pairs may spend of DefaultAlpha, as [Plan] does it.
const (
	FirstLook  = DefaultAlpha * firstShare
	SecondLook = DefaultAlpha - FirstLook
)
