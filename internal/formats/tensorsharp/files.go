package tensorsharp

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// program is TensorSharp.Cli as the command names it: with a separator, so that
// it is not searched for in PATH.
func (t *translation) program() string {
	path := cmp.Or(t.o.CLI, t.CLIExecutable)
	if strings.TrimSpace(path) == "" {
		name := filepath.Join("TensorSharp.Cli", "bin", "TensorSharp.Cli")
		path = t.firstFile(name, name+".exe", "TensorSharp.Cli", "TensorSharp.Cli.exe")
	}
	path = t.written(path)
	if !strings.ContainsAny(path, `/\`) {
		path = "." + string(filepath.Separator) + path
	}
	return path
}

// firstFile returns the first path that is a file, else the first.
func (t *translation) firstFile(paths ...string) string {
	for _, p := range paths {
		if isFile(t.opened(p)) {
			return p
		}
	}
	return paths[0]
}

// inputs is the folder of prompts: the copy beside the built program, else the
// source.
func (t *translation) inputs() string {
	built := filepath.Join("TensorSharp.TestMatrix", "bin", "Inputs")
	switch {
	case t.o.Inputs != "":
		return t.o.Inputs
	case isFolder(t.opened(built)):
		return built
	}
	return filepath.Join("TensorSharp.TestMatrix", "Inputs")
}

// media is a media file: in media_dir, else among the inputs.
func (t *translation) media(inputs, name string) string {
	if strings.TrimSpace(t.MediaDir) != "" {
		if path := filepath.Join(t.MediaDir, name); isFile(t.opened(path)) {
			return path
		}
	}
	return filepath.Join(inputs, "media", name)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// models returns the enabled models whose file exists, sorted as TensorSharp
// sorts them.
func (t *translation) models() []Model {
	var models []Model
	for _, m := range t.Models {
		if !m.Enabled {
			continue
		}
		path := t.modelFile(m.GGUF)
		switch {
		case strings.TrimSpace(m.GGUF) == "":
			t.warn("model %s names no gguf, so it is left out: add gguf, or set enabled to false", quote(m.ID))
			continue
		case !isFile(t.opened(path)):
			t.warn("model %s is left out because %s does not exist: correct gguf, or set enabled to false", quote(m.ID), quote(path))
			continue
		}
		m.GGUF = path
		if strings.TrimSpace(m.MMProj) == "" {
			m.MMProj = ""
		} else if m.MMProj = t.modelFile(m.MMProj); !isFile(t.opened(m.MMProj)) {
			t.warn("model %s is measured without images, audio and video because %s does not exist: correct mmproj", quote(m.ID), quote(m.MMProj))
			m.MMProj = ""
		}
		models = append(models, m)
	}
	slices.SortStableFunc(models, func(a, b Model) int { return cmp.Compare(strings.ToUpper(a.ID), strings.ToUpper(b.ID)) })
	return models
}

func (t *translation) modelFile(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.modelDir, path)
}

// writeModels writes models in the form that discovery gives them too. The
// arguments refer to the variables, because a path may hold braces.
func (t *translation) writeModels(models []Model) {
	if len(models) > 0 {
		t.line("    models:")
	}
	for _, m := range models {
		t.line("      - id: %s", scalar(m.ID))
		if m.MMProj != "" {
			t.line("        args: [--mmproj, \"{model.companion}\"]")
			m.MMProj = t.written(m.MMProj)
		}
		t.line("        vars: {path: %s, family: %s, companion: %s}", scalar(t.written(m.GGUF)), scalar(strings.ToLower(m.Family)),
			scalar(m.MMProj))
		t.line("        provides: [%s]", strings.Join(m.provides(), ", "))
	}
}

// provides lists what a model makes possible, in the words of the preset.
func (m *Model) provides() []string {
	var words []string
	for _, c := range []struct {
		word string
		ok   bool
	}{
		{"image", m.SupportsImage}, {"audio", m.SupportsAudio}, {"video", m.SupportsVideo},
		{"tools", m.SupportsTools}, {"thinking", m.SupportsThinking}, {"mmproj", m.MMProj != ""},
	} {
		if c.ok {
			words = append(words, c.word)
		}
	}
	return words
}

// exclude keeps disabled models from being discovered under the name of their
// file.
func (t *translation) exclude(enabled []Model) {
	var ids []string
	for _, m := range t.Models {
		path := t.modelFile(m.GGUF)
		if m.Enabled || m.GGUF == "" || filepath.Dir(path) != filepath.Clean(t.modelDir) || !isFile(t.opened(path)) {
			continue
		}
		name := filepath.Base(path)
		id := strings.ToLower(strings.TrimSuffix(name, filepath.Ext(name)))
		listed := slices.ContainsFunc(enabled, func(m Model) bool { return strings.EqualFold(m.ID, id) || m.GGUF == path })
		if listed || slices.Contains(ids, id) {
			continue
		}
		ids = append(ids, id)
		t.warn(
			"model %s is disabled, so its file %s is not measured under its own name either, which TensorSharp does: set enabled to true to measure it",
			quote(m.ID), quote(name))
	}
	if len(ids) > 0 {
		t.line("    exclude:")
	}
	for _, id := range ids {
		t.line("      - {model: %s}", scalar(id))
	}
}
