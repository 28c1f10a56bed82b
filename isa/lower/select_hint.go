package lower

import (
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// Instructions that change no value: fences, prefetches, hints to caches and to debuggers.

// hint is an instruction without effect here: of each group one modifier must be there (of a group that begins with "" none
// need be), and so many operands.
type hint struct {
	groups [][]string
	args   int
}

var hints = map[string]hint{
	"prefetch":      {[][]string{{"", "global", "local", "const", "param"}, {"L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"}}, 1},
	"prefetchu":     {[][]string{{"L1"}}, 1},
	"applypriority": {[][]string{{"", "global"}, {"L2::evict_normal"}}, 2},
	"discard":       {[][]string{{"", "global"}, {"L2"}}, 2},
	"pmevent":       {[][]string{{"", "mask"}}, 1},
	"brkpt":         {nil, 0},
	// A launch stands alone: there is no other grid to wait for.
	"griddepcontrol": {[][]string{{"wait", "launch_dependents"}}, 0},
}

// ruleHint accepts an instruction of hints and emits nothing.
func ruleHint(x *expander) {
	h := hints[x.in.Op]
	for _, g := range h.groups {
		optional := g[0] == ""
		if optional {
			g = g[1:]
		}
		if x.take(g...) == "" && !optional {
			x.fail("%s lacks %s", x.in.Op, oneOf(g))
			return
		}
	}
	if !x.args(h.args, h.args) {
		return
	}
	for i := range x.in.Args {
		if a := &x.in.Args[i]; a.Kind == ptx.ArgAddr && a.Name != "" {
			if y := x.scope.lookup(x.f, a.Name); y != nil && y.kind == symReg {
				x.checkAddressRegister(a, y)
			}
		}
	}
}

// oneOf names modifiers: ".a, .b or .c".
func oneOf(mods []string) string {
	if n := len(mods); n > 1 {
		return "." + strings.Join(mods[:n-1], ", .") + " or ." + mods[n-1]
	}
	return "." + mods[0]
}

// ruleFence is membar and fence. Accesses happen when they are issued, so that only their time is left of most; those
// between proxies and for clusters take none.
func ruleFence(x *expander) {
	switch {
	case x.has("proxy"):
		x.fenceProxy()
		return
	case x.has("mbarrier_init"):
		if x.take("release") == "" || x.take("cluster") == "" {
			x.fail("fence.mbarrier_init lacks .release.cluster")
		}
		x.args(0, 0)
		return
	case x.in.Op == "membar":
		x.fence("cta", "gl", "sys")
		return
	}
	x.take("sc", "acq_rel", "acquire", "release")
	x.dropPrefix("sync_restrict::")
	x.fence("cta", "cluster", "gpu", "sys")
}

// fence takes the scope and emits MEMBAR.
func (x *expander) fence(scopes ...string) {
	scope := x.take(scopes...)
	if scope == "" {
		x.fail("%s lacks a scope: %s", x.in.Op, oneOf(scopes))
		return
	}
	if !x.args(0, 0) || x.sm() < 20 {
		return
	}
	var m isa.Mod
	if scope == "cta" {
		m.Flags |= isa.ModCTA
	}
	x.emit(isa.OpMEMBAR, m, nil, nil)
}

// fenceProxy is fence.proxy.
func (x *expander) fenceProxy() {
	kinds := []string{"alias", "async", "async::generic", "tensormap::generic"}
	kind := x.take(kinds...)
	if kind == "" {
		x.fail("%s.proxy lacks %s", x.in.Op, oneOf(kinds))
		return
	}
	x.take("global", "shared", "shared::cta", "shared::cluster")
	x.take("acquire", "release")
	x.take("cta", "cluster", "gpu", "sys")
	x.dropPrefix("sync_restrict::")
	x.args(0, 2)
}

// ruleCreatePolicy is createpolicy: policies have no effect, the value is 0.
func ruleCreatePolicy(x *expander) {
	kinds := []string{"fractional", "range", "cvt"}
	if x.take(kinds...) == "" {
		x.fail("createpolicy lacks %s", oneOf(kinds))
		return
	}
	x.drop("global", "L2")
	x.dropPrefix("L2::")
	x.typ("b64")
	if x.err != nil || !x.args(1, 4) {
		return
	}
	d := x.dst(0, "b64")
	x.mov(d[0], rz)
	x.mov(d[1], rz)
}
