package worker_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// registry serves one image. See
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md.
type registry struct {
	address string
	pulls   atomic.Int32
	blobs   map[string][]byte // by digest
	types   map[string]string
	top     string // digest of the manifest
}

func newRegistry(t *testing.T) *registry {
	r := &registry{blobs: map[string][]byte{}, types: map[string]string{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.address = strings.TrimPrefix(server.URL, "http://")
	return r
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	digest := req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]
	if strings.Contains(req.URL.Path, "/manifests/") && digest == "1" {
		digest = r.top
	}
	if digest == r.top {
		r.pulls.Add(1)
	}
	if digest == "" || digest == "v2" {
		return
	}
	blob, ok := r.blobs[digest]
	if !ok {
		http.NotFound(w, req)
		return
	}
	w.Header().Set("Docker-Content-Digest", digest)
	w.Header().Set("Content-Type", r.types[digest])
	w.Header().Set("Content-Length", fmt.Sprint(len(blob)))
	_, _ = w.Write(blob)
}

// add adds a blob and returns what a manifest says of it.
func (r *registry) add(kind string, blob []byte) map[string]any {
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(blob))
	r.blobs[digest], r.types[digest] = blob, kind
	return map[string]any{"mediaType": kind, "digest": digest, "size": len(blob)}
}

func (r *registry) publish(t *testing.T, layer []byte) {
	t.Helper()
	encode := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	const oci = "application/vnd.oci.image."
	l := r.add(oci+"layer.v1.tar", layer)
	config := r.add(oci+"config.v1+json", encode(map[string]any{"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []any{l["digest"]}}}))
	r.top = r.add(oci+"manifest.v1+json", encode(map[string]any{"schemaVersion": 2, "mediaType": oci + "manifest.v1+json",
		"config": config, "layers": []any{l}}))["digest"].(string)
}

// An absent image is pulled only if that was asked for, and then once.
func TestContainerPullsThorough(t *testing.T) {
	testtier.Thorough(t)
	r := newRegistry(t)
	insecure := filepath.Join(t.TempDir(), "registries.conf")
	put(t, insecure, fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = true\n", r.address))
	t.Setenv("CONTAINERS_REGISTRIES_CONF", insecure) // Docker accepts this host anyway
	e := newEngine(t)
	r.publish(t, e.layer(t).Bytes())
	w := e.worker(t)
	w.Image = r.address + "/cell:1"
	t.Cleanup(func() { _ = e.command("rmi", "--force", w.Image).Run() })
	got, err := w.Do(within(t), e.request(t, "exit", "0"))
	if err != nil || got.End != worker.NotStarted || r.pulls.Load() != 0 {
		t.Errorf("%v, %s, %d pulls: want none", err, got.End, r.pulls.Load())
	}
	w = e.worker(t)
	w.Image, w.Pull = r.address+"/cell:1", true
	for range 2 { // the second time from the engine's own store
		got, err = w.Do(within(t), e.request(t, "exit", "3"))
		if err != nil || got.ExitCode != 3 {
			t.Fatal(err, got.Reason())
		}
		clear(r.blobs)
	}
}
