// Package sim is the simulation kernel on Akita: the clock in cycles, components that wake when something can change and not at
// every cycle, links between them, the run that turns panics of the model into errors with cycle and unit, the records that a
// model emits (issue, warp, memory), the warp states, and the [Result] made of them. It knows nothing of what an SM is: that is
// package sm; what is counted of the records is in sim/observe.
package sim
