package main

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// TestUnpack: compressed input is read like plain input, a damaged file is an error that names it.
func TestUnpack(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte("code for sm_90\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if name, text, err := unpack("k.sass.gz", b.Bytes()); err != nil || name != "k.sass" || string(text) != "code for sm_90\n" {
		t.Errorf("%q %q %v", name, text, err)
	}
	if name, text, err := unpack("k.ptx", []byte(".version")); err != nil || name != "k.ptx" || string(text) != ".version" {
		t.Errorf("%q %q %v", name, text, err)
	}
	if _, _, err := unpack("k.sass.gz", b.Bytes()[:12]); err == nil || !strings.Contains(err.Error(), "cannot unpack k.sass.gz") {
		t.Errorf("cut file: %v", err)
	}
}
