package sim

import (
	"errors"
	"fmt"
	"runtime/debug"

	akita "github.com/sarchlab/akita/v3/sim"
)

// Engine runs the components of one simulation on Akita's serial engine. Akita ignores the errors of
// handlers and cannot be stopped, so the engine carries the first error itself and lets the queue run dry.
type Engine struct {
	Akita *akita.SerialEngine
	Clock Clock

	cycle  uint64
	err    error
	stop   bool
	active Named // component whose handler runs
}

// Named is anything with a component name.
type Named interface{ Name() string }

// NewEngine is an engine with an empty event queue at cycle 0.
func NewEngine(clock Clock) *Engine {
	return &Engine{Akita: akita.NewSerialEngine(), Clock: clock}
}

// Cycle is the cycle of the event being handled.
func (e *Engine) Cycle() uint64 { return e.cycle }

// Fail ends the run with an error. The first one wins.
func (e *Engine) Fail(err error) {
	if e.err == nil {
		e.err = err
	}
	e.stop = true
}

// Stop ends the run: events still in the queue are dropped.
func (e *Engine) Stop() { e.stop = true }

// Stopped says whether Fail or Stop was called.
func (e *Engine) Stopped() bool { return e.stop }

// Place is where a simulation is: for errors.
type Place struct {
	Unit string // component, "SM[0].SMSP[1]"
	Warp string // "block 3 warp 2 (slot 9)", empty if none
	PC   string // instruction with source position, empty if none
}

// Fault is a broken invariant of the model: a bug, not an error of the user.
type Fault struct {
	Cycle uint64
	Place Place
	Value any    // of the panic
	Stack []byte // where it happened
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("internal error at cycle %d in %s", f.Cycle, f.Place.Unit)
	if f.Place.Warp != "" {
		s += ", " + f.Place.Warp
	}
	if f.Place.PC != "" {
		s += ", at " + f.Place.PC
	}
	return fmt.Sprintf("%s: %v", s, f.Value)
}

// Unwrap gives the error that was thrown, if the panic's value was one.
func (f *Fault) Unwrap() error {
	err, _ := f.Value.(error)
	return err
}

// ErrIdle is returned by Run when the queue ran dry before anybody called Stop.
var ErrIdle = errors.New("no event left before the end of the simulation")

// Run handles events until Stop or Fail. It is the one place that recovers from panics of the model; place says
// where the simulation was.
func Run(e *Engine, place func() Place) (err error) {
	defer func() {
		if v := recover(); v != nil {
			f := &Fault{Cycle: e.cycle, Value: v, Stack: debug.Stack()}
			if place != nil {
				f.Place = place()
			}
			if f.Place.Unit == "" && e.active != nil {
				f.Place.Unit = e.active.Name()
			}
			err = f
		}
	}()
	if err := e.Akita.Run(); err != nil {
		return err
	}
	if e.err != nil {
		return e.err
	}
	if !e.stop {
		return ErrIdle
	}
	return nil
}
