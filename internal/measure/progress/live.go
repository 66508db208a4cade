package progress

import (
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	refresh  = 200 * time.Millisecond
	barWidth = 12
)

// show starts the status line, or the signs of life of a log.
func (d *Display) show() {
	if d.o.Live {
		d.showLine()
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		return
	}
	d.stop, d.lastLine = make(chan struct{}), d.o.Now()
	d.stopped.Add(1)
	go d.live(d.stop)
}

// live writes a line now and then where nothing else does.
func (d *Display) live(stop <-chan struct{}) {
	defer d.stopped.Done()
	tick := time.NewTicker(silence / 6)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		d.mu.Lock()
		now := d.o.Now()
		line := ""
		if now.Sub(d.lastLine) >= silence {
			line = d.s.status(now)
		}
		d.mu.Unlock()
		if line != "" {
			d.line("accelgate: %s", line)
		}
	}
}

// showLine starts the status line, which the library refreshes by itself.
func (d *Display) showLine() {
	defer d.advance()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bars != nil {
		return
	}
	options := []mpb.ContainerOption{mpb.WithOutput(d.o.Out), mpb.WithRefreshRate(refresh), mpb.WithAutoRefresh()}
	if d.o.Columns > 0 {
		options = append(options, mpb.WithWidth(d.o.Columns))
	}
	d.bars = mpb.New(options...)
	d.bar = d.bars.New(0, mpb.BarStyle().Lbound("[").Filler("#").Tip("#").Padding("-").Rbound("]"), mpb.BarWidth(barWidth),
		mpb.BarRemoveOnComplete(), mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + d.now() })))
}

// advance moves the bar to where the state is. No lock is held meanwhile: the bar's own
// goroutine may be asking for the status.
func (d *Display) advance() {
	d.mu.Lock()
	bar := d.bar
	done, total := d.s.share()
	d.mu.Unlock()
	if bar == nil {
		return
	}
	bar.SetTotal(total, false)
	bar.SetCurrent(done)
}

// now is the status, for the goroutine of the library.
func (d *Display) now() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	line := d.s.status(d.o.Now())
	if room := d.o.Columns - barWidth - len("[]  "); room > 0 {
		return ending(line, room)
	}
	return line
}

// ending cuts the end of s.
func ending(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// hide ends the status line and leaves nothing of it, or the signs of life.
func (d *Display) hide() {
	d.mu.Lock()
	bars, bar, stop := d.bars, d.bar, d.stop
	d.bars, d.bar, d.stop = nil, nil, nil
	d.mu.Unlock()
	if stop != nil {
		close(stop)
		d.stopped.Wait()
	}
	if bars != nil {
		bar.Abort(true)
		bars.Wait() // without any lock: it asks for the status once more
	}
}
