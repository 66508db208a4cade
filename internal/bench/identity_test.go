package bench

import "testing"

func TestElsewhere(t *testing.T) {
	machine := func(id string, gpus ...string) (f Fingerprint) {
		f.Machine = Identify(id)
		for _, g := range gpus {
			f.Accelerators = append(f.Accelerators, Accelerator{Vendor: "nvidia", Model: "H100", ID: Identify(g)})
		}
		return f
	}
	for name, c := range map[string]struct {
		here, there Fingerprint
		want        bool
	}{
		"neither is named":                    {machine(""), machine(""), false},
		"a baseline of an older build":        {machine("a", "g"), machine("", ""), false},
		"the same machine":                    {machine("a"), machine("a"), false},
		"two machines":                        {machine("a"), machine("b"), true},
		"two machines of one kind of GPU":     {machine("", "g"), machine("", "h"), true},
		"another GPU of the same machine":     {machine("a", "g"), machine("a", "h"), false},
		"a container on the same machine":     {machine("in the container", "g", "h"), machine("a", "h"), false},
		"a container that hides its machine":  {machine("", "g"), machine("a", "g"), false},
		"one is named by GPU, one by machine": {machine("", "g"), machine("a"), false},
	} {
		if got := c.here.Elsewhere(c.there); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
		if got := c.there.Elsewhere(c.here); got != c.want {
			t.Errorf("%s, the other way round: got %v, want %v", name, got, c.want)
		}
	}
}

func TestReplaced(t *testing.T) {
	gpus := func(ids ...string) (all []Accelerator) {
		for _, id := range ids {
			all = append(all, Accelerator{Vendor: "nvidia", Model: "X", ID: id})
		}
		return all
	}
	for name, c := range map[string]struct {
		here, there Fingerprint
		want        bool
	}{
		"the same device":      {Fingerprint{Machine: "m", Accelerators: gpus("a")}, Fingerprint{Machine: "m", Accelerators: gpus("a")}, false},
		"another device":       {Fingerprint{Machine: "m", Accelerators: gpus("b")}, Fingerprint{Machine: "m", Accelerators: gpus("a")}, true},
		"one of two stays":     {Fingerprint{Machine: "m", Accelerators: gpus("a", "c")}, Fingerprint{Machine: "m", Accelerators: gpus("a", "b")}, false},
		"another machine":      {Fingerprint{Machine: "n", Accelerators: gpus("b")}, Fingerprint{Machine: "m", Accelerators: gpus("a")}, false},
		"a device is unknown":  {Fingerprint{Machine: "m", Accelerators: gpus("")}, Fingerprint{Machine: "m", Accelerators: gpus("a")}, false},
		"a machine is unknown": {Fingerprint{Accelerators: gpus("b")}, Fingerprint{Accelerators: gpus("a")}, false},
	} {
		if c.here.Replaced(c.there) != c.want || c.there.Replaced(c.here) != c.want {
			t.Errorf("%s: want %v", name, c.want)
		}
	}
}

func TestSame(t *testing.T) {
	host := func(machine string, gpus ...string) (f Fingerprint) {
		f.Machine = machine
		for _, id := range gpus {
			f.Accelerators = append(f.Accelerators, Accelerator{Vendor: "nvidia", Model: "X", ID: id})
		}
		return f
	}
	for name, c := range map[string]struct {
		one, other Fingerprint
		want       bool
	}{
		"nothing is known":              {host(""), host(""), false},
		"one machine":                   {host("m"), host("m"), true},
		"two machines":                  {host("m"), host("n"), false},
		"two GPUs of one machine":       {host("m", "a"), host("m", "b"), false},
		"one GPU of two":                {host("m", "a", "b"), host("m", "b", "c"), true},
		"one GPU, seen from containers": {host("m", "a"), host("n", "a"), true},
		"GPUs without an identifier":    {host("m", ""), host("m", ""), true},
	} {
		if c.one.Same(c.other) != c.want || c.other.Same(c.one) != c.want {
			t.Errorf("%s: want %v", name, c.want)
		}
	}
}
