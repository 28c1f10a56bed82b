package isa

import "testing"

func TestEveryOpcodeIsDescribed(t *testing.T) {
	for op := OpNone + 1; op < NumOps; op++ {
		if op.Doc() == "" {
			t.Errorf("%s has no comment in op.go", op)
		}
	}
	if d := OpIDP.Doc(); d != "d = c + dot(a, b) (.4A, .2A.LO, .2A.HI)" {
		t.Errorf("IDP: %q", d)
	}
}
