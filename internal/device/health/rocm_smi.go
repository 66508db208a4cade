package health

import (
	"errors"
	"strings"
)

// parseROCm reads rocm-smi --json: {"card0": {"GPU use (%)": "98", ...}, "system":
// {"PID4242": "python3, 1, 2353860608, 11011, 0"}}, whose keys differ between
// versions. It tells neither what holds a device back nor its memory errors, and
// of processes not on which device they are.
func parseROCm(out []byte) (map[int]state, error) {
	document, err := firstJSON(out)
	if err != nil {
		return nil, err
	}
	gpus := map[int]state{}
	var users []user
	for name, value := range objectOf(document) {
		if digits, ok := strings.CutPrefix(name, "card"); ok {
			if n, ok := number(digits); ok && n < maxList {
				gpus[n] = stateOfROCm(objectOf(value))
			}
		} else if name == "system" {
			users = usersOfROCm(objectOf(value))
		}
	}
	if len(gpus) == 0 {
		return nil, errors.New("it lists no card")
	}
	if s, ok := gpus[0]; ok && len(gpus) == 1 {
		s.users, s.listed = users, true
		gpus[0] = s
	}
	return gpus, nil
}

func stateOfROCm(card object) (s state) {
	for key := range card {
		v, known := quantity(strings.TrimPrefix(card.text(key), "("))
		switch {
		case key == "sclk clock speed:":
			s.add("gfx clock", "MHz", v, known)
			s.clock = v
		case key == "mclk clock speed:":
			s.add("memory clock", "MHz", v, known)
		case strings.HasPrefix(key, "temperature (sensor junction)"):
			s.add("hotspot temperature", "C", v, known)
		case strings.HasSuffix(key, "graphics package power (w)") && !strings.HasPrefix(key, "max "):
			s.add("power", "W", v, known)
		case key == "gpu use (%)":
			s.add("busy", "%", v, known)
			s.busy = v / 100
		case key == "vram total used memory (b)":
			s.add("memory used", "MiB", v/(1<<20), known)
		}
	}
	s.untold = []string{heldBack, "its memory errors"}
	return s
}

func usersOfROCm(system object) (users []user) {
	for key := range system {
		digits, ok := strings.CutPrefix(key, "pid")
		pid, isPID := number(digits)
		if !ok || !isPID || pid == 0 || len(users) == maxList {
			continue
		}
		cells := strings.Split(system.text(key), ",")
		mib := 0.0
		if len(cells) > 2 {
			bytes, _ := quantity(cells[2])
			mib = max(bytes, 0) / (1 << 20)
		}
		users = append(users, user{pid: pid, mib: mib})
	}
	return users
}
