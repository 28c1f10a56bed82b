package lower

// schedule orders the instructions of each block.
func (f *fn) schedule(limit int) {}
