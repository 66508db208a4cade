package device

// Gres is the resource of Slurm that so many devices of a vendor are, as in "gpu:4"; "" for a vendor that it does not place.
func Gres(vendor, profile, count string) string {
	v := vendorNamed(vendor)
	switch {
	case v == nil || v.gres == "":
		return ""
	case profile != "":
		return v.gres + ":" + profile + ":" + count
	}
	return v.gres + ":" + count
}

// Resource is the name under which a device plugin of Kubernetes offers the devices of a vendor, or its slices of a
// profile; "" for a vendor without one.
func Resource(vendor, profile string) string {
	v := vendorNamed(vendor)
	switch {
	case v == nil || v.resource == "":
		return ""
	case profile != "":
		return "nvidia.com/mig-" + profile
	}
	return v.resource
}
