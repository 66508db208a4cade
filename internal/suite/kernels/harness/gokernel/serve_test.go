package gokernel

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestServeEndsWithItsInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, out string
		wrong   bool
	}{
		{"", "", false},
		{"nonsense\n", "", true},
		{`{"op":"exit"}` + "\n", "", true},
		{`{"seq":1,"op":"exit"}` + "\n" + `{"seq":2,"op":"check"}` + "\n", `{"seq":1,"ok":true,"host_ns":0}` + "\n", false},
		{`{"seq":1,"op":"check"}`, `{"seq":1,"ok":true,"health":"ok","host_ns":0}` + "\n", false},
		{`{"seq":1,"op":"save","names":7}`, `{"seq":1,"ok":false,"error":{"kind":"runtime"`, false},
		{`{"seq":1,"op":"dance"}`, `{"seq":1,"ok":false,"error":{"kind":"unsupported"`, false},
		{`{"seq":1,"op":"tensor","name":"x","dtype":"int8","shape":[-1],"alloc":{}}`, `{"seq":1,"ok":false`, false},
		{`{"seq":1,"op":"tensor","name":"x","dtype":"int8","shape":[2]}`, `{"seq":1,"ok":false`, false},
		{`{"seq":1,"op":"tensor","name":"x","dtype":"int8","shape":null,"scalar":-3,"digest":true}`,
			`{"seq":1,"ok":true,"bytes":1,"digest":"3e15`, false},
		{`{"seq":1,"op":"time","slots":[],"order":[3],"iters":1}`, `{"seq":1,"ok":false`, false},
	} {
		var out bytes.Buffer
		err := Serve(t.Context(), strings.NewReader(c.in), &out, func() time.Time { return time.Time{} })
		if (err != nil) != c.wrong || !strings.HasPrefix(out.String(), c.out) {
			t.Errorf("%q: error %v, output %q, want %q", c.in, err, out.String(), c.out)
		}
	}
}

func TestServeIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	in, _ := io.Pipe()
	if err := Serve(ctx, in, io.Discard, time.Now); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
}
