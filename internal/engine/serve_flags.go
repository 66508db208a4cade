package engine

import (
	"errors"
	"flag"
	"fmt"
)

// server reads the arguments and the environment. Every error says what to
// type.
func (c Command) server(args []string) (*server, error) {
	s := &server{Command: c, options: options{Now: c.Now}}
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.StringVar(&s.listen, "listen", defaultListen, "")
	flags.StringVar(&s.options.Model, "model", "", "")
	flags.Uint64Var(&s.options.Seed, "seed", 1, "")
	flags.StringVar(&s.options.Backend, "backend", backendParallel, "") // the other gains nothing from a batch
	flags.IntVar(&s.options.Threads, "threads", 0, "")
	flags.IntVar(&s.slots, "slots", defaultSlots, "")
	flags.IntVar(&s.context, "context", defaultContext, "")
	flags.Var(&s.slow, "inject-slowdown", "")
	keyEnv := flags.String("api-key-env", "", "")
	if err := Parse(flags, args, "see `accelgate engine serve -h`"); err != nil {
		return nil, err
	}
	return s, errors.Join(s.checkSizes(), s.setKey(*keyEnv), s.setOptions())
}

func (s *server) checkSizes() error {
	switch {
	case s.slots < 1 || s.slots > maxSlots:
		return fmt.Errorf("--slots %d: choose 1 to %d", s.slots, maxSlots)
	case s.context < 2 || s.context > maxTokens:
		return fmt.Errorf("--context %d: choose 2 to %d", s.context, maxTokens)
	}
	return nil
}

// setKey refuses a variable without a key: to serve without one, then, would
// be to leave the door open unseen.
func (s *server) setKey(name string) error {
	if name == "" {
		return nil
	}
	if s.key = s.Getenv(name); s.key == "" {
		return fmt.Errorf("--api-key-env %s: the variable is empty or not set: put the key there, or drop the flag", name)
	}
	return nil
}

func (s *server) setOptions() (err error) {
	s.options.KVCache = s.Getenv(kvCacheEnv)
	s.options, err = s.options.withDefaults()
	return err
}
