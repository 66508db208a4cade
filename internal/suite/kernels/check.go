package kernels

import "github.com/accelgate/accelgate/internal/config"

// CheckKeys checks the keys of a suite as far as they can be without its dataset.
func CheckKeys(c *config.Suite) error {
	b, err := read(c)
	if err != nil {
		return err
	}
	return b.Flags.overrides().Check()
}
