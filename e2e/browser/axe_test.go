package browser_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// violations runs axe-core in the page. The page's own policy forbids other scripts, so it runs in a world of its own.
func violations(t *testing.T, ctx context.Context) {
	t.Helper()
	axe, err := os.ReadFile(filepath.Join("..", "..", ".tools", "npm", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		testtier.Missing(t, "the accessibility of pages was NOT checked: run .ci/tools")
	}
	var found []struct{ ID, Impact, Help string }
	err = chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		tree, err := page.GetFrameTree().Do(ctx)
		if err != nil {
			return err
		}
		world, err := page.CreateIsolatedWorld(tree.Frame.ID).Do(ctx)
		if err != nil {
			return err
		}
		const check = `;(async () => { return JSON.stringify((await axe.run(document)).violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map(({id, impact, help}) => ({id, impact, help}))); })()`
		result, thrown, err := cdpruntime.Evaluate(string(axe) + check).WithContextID(world).WithAwaitPromise(true).WithReturnByValue(true).Do(ctx)
		if err != nil {
			return err
		}
		if thrown != nil {
			return thrown
		}
		var list string
		if err := json.Unmarshal(result.Value, &list); err != nil {
			return err
		}
		return json.Unmarshal([]byte(list), &found)
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Errorf("axe: %s (%s): %s", v.ID, v.Impact, v.Help)
	}
}

// listen collects errors of the console.
func listen(ctx context.Context) func() []string {
	var mu sync.Mutex
	var problems []string
	chromedp.ListenTarget(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *cdpruntime.EventExceptionThrown:
			problems = append(problems, e.ExceptionDetails.Error())
		case *cdpruntime.EventConsoleAPICalled:
			if e.Type == cdpruntime.APITypeError {
				problems = append(problems, "console.error")
			}
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return problems
	}
}
