package flashinfer

// EncodeSolution returns the file of a solution, which [ParseSolution] reads back
// as the same. It is an error if that would refuse it.
func EncodeSolution(s *Solution) ([]byte, error) {
	o := ordered{{"name", s.Name}, {"definition", s.Definition}, {"author", s.Author}}
	o.add("description", s.Description)
	spec := ordered{{"language", s.Language}, {"target_hardware", s.TargetHardware}, {"entry_point", s.EntryPoint}}
	spec.addList("dependencies", s.Dependencies)
	spec = append(spec, field{"destination_passing_style", s.DestinationPassing})
	spec.add("binding", s.Binding)
	sources := []ordered{}
	for _, source := range s.Sources {
		sources = append(sources, ordered{{"path", source.Path}, {"content", source.Content}})
	}
	text, err := indented(append(o, field{"spec", spec}, field{"sources", sources}))
	if err == nil {
		_, err = ParseSolution("solution "+s.Name, text)
	}
	return text, err
}

// definitionPath returns where a definition belongs in a dataset, relative to its
// root and with the system's separators. It is an error if a name cannot be a
// part of a path.
func definitionPath(d *Definition) (string, error) {
	return layout(definitionsFolder, ".json", d.OpType, d.Name)
}

// SolutionPath is [definitionPath] for a solution of the definition.
func SolutionPath(d *Definition, s *Solution) (string, error) {
	return layout(solutionsFolder, ".json", s.Author, d.OpType, d.Name, s.Name)
}

// workloadsPath is [definitionPath] for the workloads of a definition.
func workloadsPath(d *Definition) (string, error) {
	return layout(workloadsFolder, ".jsonl", d.OpType, d.Name)
}
