package measure

import (
	"fmt"
	"io"
	"time"

	"github.com/accelgate/accelgate/internal/measure/progress"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
)

// Env is what measuring takes from the process and the command that runs. All
// fields but Progress are required. It is safe for concurrent use where Stderr is.
type Env struct {
	Stdout io.Writer // results only
	Stderr io.Writer // what is for people to follow
	Getenv func(string) string
	Now    func() time.Time
	// Environ is the process's environment, of which children get all but secrets.
	Environ []string
	Kinds   map[string]suite.Kind // by the name that the configuration uses
	// Progress shows how far measuring is; nil shows nothing. It is what Stderr writes to.
	Progress *progress.Display
	// Root is where the folder sys of this host is; "" is "/".
	Root string
	// Carry adds to the commands in a message the flags that the user gave.
	Carry func(message string) string
}

// WarnAll prints warnings for people.
func (e *Env) WarnAll(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(e.Stderr, "accelgate: warning: %s\n", text.OneLine(e.Carry(w)))
	}
}
