// Package schemas checks YAML texts against the published JSON schemas, for the tests that keep schemas and decoders in step.
package schemas

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Compile reads a schema file.
func Compile(t testing.TB, path string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Document is a YAML text as a schema sees it. A key that is there twice, which is no matter of a schema, is taken once; a text that is
// no YAML at all ends the test.
func Document(t testing.TB, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.UnmarshalWithOptions(text, &v, yaml.AllowDuplicateMapKey()); err != nil {
		t.Fatal(err)
	}
	j, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(j)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
