package lower

// optimise improves the kernel on virtual registers before pseudo instructions are expanded.
func (f *fn) optimise() {
}

// cleanup removes what expansion and legalisation left over.
func (f *fn) cleanup() {}

// schedule orders instructions within blocks.
func (f *fn) schedule(limit int) {}

// expandPseudos replaces pseudo instructions by machine instructions.
func (f *fn) expandPseudos() {}
