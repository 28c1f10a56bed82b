package study

import "github.com/sarchlab/smsim/sim"

// stateLetters stand for the warp states where a picture of characters is drawn.
var stateLetters = [sim.NumWarpStates]string{
	sim.Selected: "#", sim.NotSelected: "n", sim.Wait: "w", sim.MathPipeThrottle: "M", sim.LongScoreboard: "L",
	sim.ShortScoreboard: "S", sim.Barrier: "B", sim.NoInstruction: "i", sim.DispatchStall: "d", sim.MIOThrottle: "Q",
	sim.LGThrottle: "G", sim.TexThrottle: "T", sim.BranchResolving: "b", sim.IMCMiss: "c", sim.Membar: "m",
	sim.Sleeping: "z", sim.Drain: "D", sim.Misc: "?",
}

func stateLetter(name string) string {
	for s, l := range stateLetters {
		if sim.WarpState(s).String() == name {
			return l
		}
	}
	return "?"
}
