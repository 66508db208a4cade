package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
)

// bom is a bill of materials in CycloneDX 1.5: the part of it that the linker records.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// writeSBOM writes FILE.cdx.json beside a binary: the modules that are linked into it, as `go version -m` lists them.
func writeSBOM(file, version, digest string) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(describe(info, filepath.Base(file), version, digest), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file+".cdx.json", append(data, '\n'), 0o644)
}

// describe lists what a binary says that it was linked from.
func describe(info *debug.BuildInfo, name, version, digest string) bom {
	b := bom{Format: "CycloneDX", Spec: "1.5", Version: 1}
	b.Metadata.Component = component{Type: "application", Name: name, Version: version,
		PURL: "pkg:golang/" + info.Main.Path + "@" + version, Hashes: []hash{{"SHA-256", digest}}}
	b.Components = []component{{Type: "library", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + info.GoVersion}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version})
	}
	return b
}
