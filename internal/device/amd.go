package device

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// AMD is the vendor of Instinct and Radeon GPUs.
const AMD = "amd"

var amd = vendor{
	name: AMD, label: "rocm", hosts: []string{"linux", "windows"},
	systems: []string{"linux"}, tools: []tool{amdSMI, rocmSMI},
	// Each of these variables filters what the layer below it has left, and
	// numbers that anew, so exactly one may be set. AMD recommends
	// ROCR_VISIBLE_DEVICES on Linux; HIP_VISIBLE_DEVICES exists on Windows,
	// too, and is the one that Ray and vLLM accept.
	// https://rocm.docs.amd.com/projects/HIP/en/latest/reference/env_variables.html
	// https://github.com/ROCm/ROCR-Runtime/issues/155
	pin: pinning{
		variable: "HIP_VISIBLE_DEVICES",
		clashing: []string{"ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"},
		id:       index, example: "amd:0",
	},
	gres: "gpu", resource: "amd.com/gpu", // https://github.com/ROCm/k8s-device-plugin
	buses: busesOfAMD, busTools: "amd-smi or rocm-smi",
}

var (
	amdSMI = tool{
		args:  []string{"amd-smi", "static", "--asic", "--vram", "--driver", "--json"},
		parse: parseAMDSMI,
	}
	// rocmSMI is the tool that amd-smi replaced.
	rocmSMI = tool{
		args:  []string{"rocm-smi", "--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--showuniqueid", "--json"},
		parse: parseROCmSMI,
	}
)

var errNoJSON = errors.New("its output is not the JSON that was asked for")

// parseAMDSMI reads a list of devices, which newer versions wrap in an object:
// {"gpu_data": [{"asic": {"market_name": ...}, "vram": {"size": {"value":
// 196592, "unit": "MB"}}, "driver": {"version": ...}}]}. What a device does
// not know is "N/A", even where an object would stand.
func parseAMDSMI(out []byte) (inventory, error) {
	document, ok := firstJSON(out)
	if !ok {
		return inventory{}, errNoJSON
	}
	if wrapper, ok := document.(map[string]any); ok {
		document = wrapper["gpu_data"]
	}
	list, ok := document.([]any)
	if !ok {
		return inventory{}, errNoJSON
	}
	var found inventory
	for _, entry := range list {
		device := fieldsOf(entry)
		if device == nil {
			continue
		}
		asic := fieldsOf(device["asic"])
		found.devices = append(found.devices, bench.Accelerator{
			Model:     amdName(asic.text("target_graphics_version"), asic.text("market_name")),
			MemoryGiB: vramSize(fieldsOf(device["vram"])["size"]),
			ID:        amdID(asic.text("asic_serial")),
		})
		driver := fieldsOf(device["driver"])
		found.driver = cmp.Or(found.driver, driver.text("version"), driver.text("driver_version"))
	}
	return found, nil
}

// vramSize reads {"value": 196592, "unit": "MB"}, where MB means MiB.
func vramSize(size any) float64 {
	fields := fieldsOf(size)
	value, _ := fields["value"].(float64)
	switch strings.ToUpper(fields.text("unit")) {
	case "MB":
		return gibibytes(value * (1 << 20))
	case "GB":
		return gibibytes(value * (1 << 30))
	}
	return 0
}

// parseROCmSMI reads {"card0": {"Card Series": ..., "VRAM Total Memory (B)":
// "..."}, "system": {"Driver version": ...}}. The case of the keys differs
// between versions.
func parseROCmSMI(out []byte) (inventory, error) {
	document, _ := firstJSON(out)
	cards := fieldsOf(document)
	if cards == nil {
		return inventory{}, errNoJSON
	}
	found := inventory{driver: fieldsOf(cards["system"]).text("driver version")}
	for _, number := range cardNumbers(cards) {
		card := fieldsOf(cards["card"+strconv.Itoa(number)])
		size, _ := strconv.ParseFloat(card.text("vram total memory (b)"), 64)
		found.devices = append(found.devices, bench.Accelerator{
			Model:     amdName(card.text("gfx version"), card.text("card series"), card.text("card model"), card.text("device name")),
			MemoryGiB: gibibytes(size),
			ID:        amdID(card.text("unique id")),
		})
	}
	return found, nil
}

var amdUnique = lazyregexp.New(`^[0-9a-f]{6,16}$`)

// amdID is the digest of the number that the driver reads from a device, as
// /sys/class/drm/card0/device/unique_id has it. Both tools print it, with and
// without leading zeros and in either case; devices without one have 0 or N/A.
func amdID(number string) string {
	number = strings.TrimLeft(strings.TrimPrefix(strings.ToLower(number), "0x"), "0")
	if !amdUnique.MatchString(number) {
		return ""
	}
	return bench.Identify(number)
}

func cardNumbers(cards fields) []int {
	var numbers []int
	for key := range cards {
		digits, isCard := strings.CutPrefix(key, "card")
		if n, err := strconv.Atoi(digits); isCard && err == nil && strconv.Itoa(n) == digits {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// amdName returns the first candidate that is a name and not a number, or
// else the name of the architecture.
func amdName(gfx string, candidates ...string) string {
	for _, name := range candidates {
		if name != "" && !strings.HasPrefix(name, "0x") {
			return name
		}
	}
	return strings.TrimSpace("AMD GPU " + gfx)
}

// fields is a JSON object whose keys are in lower case.
type fields map[string]any

// fieldsOf returns nil, which has no fields, for anything but an object.
func fieldsOf(value any) fields {
	object, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	f := make(fields, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) { // two keys may differ in case only
		f[strings.ToLower(key)] = object[key]
	}
	return f
}

// text returns the text under a key, and "" where it is not known.
func (f fields) text(key string) string {
	s, _ := f[key].(string)
	if s = clean(s); s == "N/A" {
		return ""
	}
	return s
}

// firstJSON returns the first JSON object or array that begins a line. The
// tools print warnings before it.
func firstJSON(out []byte) (value any, ok bool) {
	tries := 16 // each may read to the end
	for len(out) > 0 && tries > 0 {
		if out[0] == '{' || out[0] == '[' {
			if json.NewDecoder(bytes.NewReader(out)).Decode(&value) == nil {
				return value, true
			}
			tries--
		}
		_, out, _ = bytes.Cut(out, []byte{'\n'})
	}
	return nil, false
}
