package browser_test

import (
	"bytes"
	"context"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "write the pictures of testdata")

// What a picture may differ by: fonts, dates and versions vary, a layout does not.
const (
	shrink    = 4    // pixels of the window, in each direction, that are one of a picture
	tolerated = 40   // of 255, in each colour of a pixel
	share     = 0.04 // of the pixels that may differ by more
)

// picture takes a picture and compares it with that of testdata. The whole picture goes to the folder ACCELGATE_TEST_SHOTS.
func picture(t *testing.T, name string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		t.Helper()
		got, err := taken(ctx, name)
		if err != nil {
			return err
		}
		path := filepath.Join("testdata", name+".png")
		if *update {
			var b bytes.Buffer
			if err := png.Encode(&b, got); err != nil {
				return err
			}
			return os.WriteFile(path, b.Bytes(), 0o644)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want, err := png.Decode(bytes.NewReader(file))
		if err != nil {
			return err
		}
		if differ := differing(got, want); differ > share {
			t.Errorf("%.1f %% of %s look otherwise than in %s: look at it with ACCELGATE_TEST_SHOTS=FOLDER, then accept it with -update", 100*differ, name, path)
		}
		return nil
	})
}

// taken is a picture of the window as it is now, made small.
func taken(ctx context.Context, name string) (image.Image, error) {
	if err := chromedp.Evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil).Do(ctx); err != nil {
		return nil, err
	}
	var data []byte
	if err := chromedp.CaptureScreenshot(&data).Do(ctx); err != nil {
		return nil, err
	}
	if dir := os.Getenv("ACCELGATE_TEST_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644); err != nil {
			return nil, err
		}
	}
	whole, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return small(whole), nil
}

// small is a picture whose pixels are the means of squares, in few colours.
func small(whole image.Image) image.Image {
	size := whole.Bounds().Size().Div(shrink)
	made := image.NewNRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			var sum [3]uint32
			for i := range shrink * shrink {
				r, g, b, _ := whole.At(x*shrink+i%shrink, y*shrink+i/shrink).RGBA()
				sum[0], sum[1], sum[2] = sum[0]+r>>8, sum[1]+g>>8, sum[2]+b>>8
			}
			mean := func(sum uint32) uint8 { return uint8(sum/(shrink*shrink)) &^ 7 }
			made.SetNRGBA(x, y, color.NRGBA{mean(sum[0]), mean(sum[1]), mean(sum[2]), 255})
		}
	}
	return made
}

// differing is the share of pixels of two pictures that differ by more than is tolerated.
func differing(a, b image.Image) float64 {
	size := a.Bounds().Size()
	if size != b.Bounds().Size() {
		return 1
	}
	far := 0
	for y := range size.Y {
		for x := range size.X {
			ar, ag, ab, _ := a.At(x, y).RGBA()
			br, bg, bb, _ := b.At(x, y).RGBA()
			off := func(a, b uint32) bool { return max(a, b)-min(a, b) > tolerated<<8 }
			if off(ar, br) || off(ag, bg) || off(ab, bb) {
				far++
			}
		}
	}
	return float64(far) / float64(size.X*size.Y)
}

// TestPicturesDiffer: a table that runs off, a dark page in a light window and a page without style are seen.
func TestPicturesDiffer(t *testing.T) {
	t.Parallel()
	page := func(background, box color.Color, width int) image.Image {
		p := image.NewNRGBA(image.Rect(0, 0, 400, 400))
		for i := range 400 * 400 {
			c := background
			if x, y := i%400, i/400; x < width && y > 100 && y < 160 {
				c = box
			}
			p.Set(i%400, i/400, c)
		}
		return small(p)
	}
	light := page(color.White, color.Black, 200)
	for what, other := range map[string]image.Image{
		"dark": page(color.Black, color.White, 200), "wider": page(color.White, color.Black, 400), "without": page(color.White, color.White, 200),
	} {
		if d := differing(light, other); d <= share {
			t.Errorf("%s: %.3f of the pixels differ", what, d)
		}
	}
	if d := differing(light, light); d != 0 {
		t.Errorf("a picture differs from itself by %v", d)
	}
}
