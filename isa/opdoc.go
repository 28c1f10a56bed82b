package isa

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed op.go
var opSource string

// opDocs are the comments beside the opcodes of op.go, so that the instruction table and the source say one thing.
var opDocs = sync.OnceValue(func() map[string]string {
	docs := map[string]string{}
	for line := range strings.Lines(opSource) {
		name, comment, ok := strings.Cut(strings.TrimSpace(line), "//")
		word, isOp := strings.CutPrefix(strings.TrimSpace(name), "Op")
		if ok && isOp && !strings.ContainsAny(word, " :=") {
			docs[word] = strings.TrimSpace(comment)
		}
	}
	return docs
})

// Doc says in one line what the opcode does: destinations = sources, with the modifiers that change it.
func (op Op) Doc() string {
	if op == OpNone || op >= NumOps {
		return ""
	}
	return opDocs()[opTable[op].name]
}
