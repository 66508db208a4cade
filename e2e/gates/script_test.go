package gates_test

import (
	"testing"

	"github.com/accelgate/accelgate/e2e/script"
)

func TestMain(m *testing.M)   { script.Main(m) }
func TestScript(t *testing.T) { script.Run(t) }
