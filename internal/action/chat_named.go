package action

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// addressed runs a command for the configuration that its first word names, as in
// "engine: rerun attn*", or for all configurations of the input config.
func (t talk) addressed(ctx context.Context, words []string) (string, error) {
	var names []string
	for _, path := range list(t.in.options.Config, ",") {
		one := *t.action
		one.in.options.Config = path
		one.nameConfiguration(one.nameOf(ctx, path))
		t.all = append(t.all, talk{action: &one, client: t.client, repo: t.repo})
		names = append(names, one.in.name)
	}
	if len(words) == 0 {
		return t.command(ctx, words)
	}
	name, given := strings.CutSuffix(words[0], ":")
	several := len(t.all) > 1
	switch {
	case given && len(words) > 1 && words[1] == approveVerb:
		return "", fmt.Errorf("approve-config counts for all configurations: write it without %s", quoteCode(words[0]))
	case given:
		for i := range t.all {
			if t.all[i].in.name == name && name != "" {
				one := t.all[i]
				one.all, one.to = t.all[i:i+1], name
				return one.command(ctx, words[1:])
			}
		}
		return "", fmt.Errorf("no configuration is named %s: %s", quoteCode(name), known(names))
	case several && (words[0] == "accept" || words[0] == "rerun" && len(words) > 1):
		return "", fmt.Errorf("there are several configurations: write `/accelgate NAME: %s ...`; %s", words[0], known(names))
	case !several:
		one := t.all[0]
		one.all = t.all
		return one.command(ctx, words)
	}
	return t.command(ctx, words)
}

// known lists the names of configurations.
func known(names []string) string {
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	if len(names) == 0 {
		return "add `name` to accelgate.yaml, or leave the name out"
	}
	return "names are " + quoteCode(strings.Join(names, ", "))
}

// dispatched adds to the inputs of a dispatch which configuration it is for.
func (t talk) dispatched(inputs map[string]string) map[string]string {
	inputs = maps.Clone(inputs)
	if t.to != "" {
		inputs["name"] = t.to
	}
	return inputs
}
