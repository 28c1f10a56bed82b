package advise

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var randomKernels = flag.Int("random-kernels", 40, "random kernels that TestRandom rewrites")

// TestRandom rewrites random code made of what the rules look for, with all rules one after the other, and compares the outputs.
func TestRandom(t *testing.T) {
	found := map[string]int{}
	for seed := range *randomKernels {
		text := head + randomBody(rand.New(rand.NewPCG(uint64(seed), 11))) + tail
		after := []byte(text)
		for _, r := range Rules() {
			ch, err := Rewrite("random.ptx", after, "k", map[string]uint64{"n": launchN, "%ntid.x": 128}, r)
			if err != nil {
				t.Fatalf("seed %d, rule %s: %v", seed, r.Name, err)
			}
			if ch == nil {
				continue
			}
			found[r.Name]++
			t.Run(fmt.Sprintf("%d/%s", seed, r.Name), func(t *testing.T) {
				equalRuns(t, string(after), ch.Text, launchN, "sm_75")
			})
			after = []byte(ch.Text)
		}
	}
	for _, r := range Rules() {
		if found[r.Name] == 0 && *randomKernels >= 200 && r.Name != "wide" {
			t.Errorf("no random kernel has a place for %s", r.Name)
		}
	}
}

// randomBody is straight code over 32-bit values with the instructions and constants of the rules' patterns.
func randomBody(rnd *rand.Rand) string {
	var b strings.Builder
	values := []string{"%a", "%b", "%c", "%d", "%t", "%n"}
	recent := func() string {
		if rnd.IntN(3) > 0 && len(values) > 6 {
			return values[len(values)-1-rnd.IntN(min(4, len(values)-6))]
		}
		return values[rnd.IntN(len(values))]
	}
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	next := 0
	put := func(format string, args ...any) {
		d := fmt.Sprintf("%%r%d", next)
		next++
		fmt.Fprintf(&b, "\t%s;\n", strings.ReplaceAll(fmt.Sprintf(format, args...), "@", d))
		values = append(values, d)
	}
	last := func() string { return values[len(values)-1] }
	preds := 0
	for next < 60 {
		x, y := recent(), recent()
		switch rnd.IntN(22) {
		case 0:
			put("and.b32 @, %s, %s", x, pick("255", "65535", "31", "0xff00ff", "0xff00", y))
		case 1:
			put("shr.u32 @, %s, %s", x, pick("8", "16", "24", "25", "31"))
		case 2:
			put("shl.b32 @, %s, %s", x, pick("8", "16", "24", "7", "1"))
		case 3:
			put("bfe.%s @, %s, %s, 8", pick("u32", "s32"), x, pick("0", "8", "16", "24"))
		case 4:
			put("cvt.%s @, %s", pick("s32.s8", "u32.u8", "s32.s16", "u32.u16"), x)
		case 5:
			put("mul.lo.s32 @, %s, %s", x, y)
			put("add.s32 @, %s, %s", last(), recent())
		case 6:
			put("mad.lo.s32 @, %s, %s, %s", x, y, recent())
		case 7:
			put("sub.s32 @, %s, %s", x, y)
			s := last()
			switch rnd.IntN(3) {
			case 0:
				put("abs.s32 @, %s", s)
			case 1:
				put("neg.s32 @, %s", s)
				put("max.s32 @, %s, %s", s, last())
			case 2:
				put("sub.s32 @, %s, %s", y, x)
				fmt.Fprintf(&b, "\tsetp.gt.%s %%p%d, %s, %s;\n", pick("s32", "u32"), preds%10, x, y)
				put("selp.b32 @, %s, %s, %%p%d", s, last(), preds%10)
				preds++
			}
		case 8:
			fmt.Fprintf(&b, "\tsetp.%s.%s %%p%d, %s, %s;\n", pick("lt", "gt", "le", "ge"), pick("s32", "u32"), preds%10, x, y)
			put("selp.b32 @, %s, %s, %%p%d", pick(x, y), pick(x, y), preds%10)
			preds++
		case 9:
			put("%s @, %s, %s", pick("max.s32", "min.s32", "max.u32", "min.u32"), x, pick(y, "0"))
		case 10:
			put("add.s32 @, %s, %s", x, y)
			sum := last()
			fmt.Fprintf(&b, "\tsetp.lt.u32 %%p%d, %s, %s;\n", preds%10, sum, pick(x, y, recent()))
			put("selp.u32 @, 1, 0, %%p%d", preds%10)
			preds++
			put("add.s32 @, %s, %s", last(), recent())
		case 11:
			n := 1 + rnd.IntN(31)
			put("shl.b32 @, %s, %d", x, n)
			l := last()
			put("shr.u32 @, %s, %d", y, pick32(rnd, 32-n))
			put("%s @, %s, %s", pick("or.b32", "xor.b32", "add.s32"), l, last())
		case 12:
			put("popc.b32 @, %s", x)
			p := last()
			put("popc.b32 @, %s", y)
			q := last()
			put("add.s32 @, %s, %s", p, q)
			s := last()
			put("popc.b32 @, %s", recent())
			put("add.s32 @, %s, %s", s, last())
		case 13:
			put("%s @, %s, %s", pick("or.b32", "xor.b32", "and.b32"), x, y)
		case 14:
			put("not.b32 @, %s", x)
		case 15:
			put("prmt.b32 @, %s, %s, 0x%04x", x, y, rnd.IntN(0x8000)&0x7777)
		case 16:
			put("bfi.b32 @, %s, %s, %s, 8", x, y, pick("0", "8", "24"))
		case 17:
			put("div.u32 @, %s, %%n", x)
		case 18:
			put("add.s32 @, %s, %s", x, y)
			put("add.s32 @, %s, %s", last(), recent())
			l := last()
			put("add.s32 @, %s, %s", recent(), recent())
			put("add.s32 @, %s, %s", l, last())
			put("add.s32 @, %s, %s", last(), recent())
		case 19: // a dot product
			acc := recent()
			for i := range 4 {
				put("bfe.%s @, %s, %d, 8", "u32", x, 8*i)
				p := last()
				put("bfe.%s @, %s, %d, 8", pick("u32", "s32"), y, 8*i)
				put("mad.lo.s32 @, %s, %s, %s", p, last(), acc)
				acc = last()
			}
		case 20:
			put("mov.b32 @, %s", x)
		case 21:
			put("and.b32 @, %s, 255", x)
			p := last()
			put("and.b32 @, %s, 255", y)
			q := last()
			put("sub.s32 @, %s, %s", p, q)
			put("abs.s32 @, %s", last())
			put("add.s32 @, %s, %s", last(), recent())
		}
	}
	// Everything that was computed last goes into the results.
	fmt.Fprintf(&b, "\tmov.b32 %%x, %s;\n\tmov.b32 %%y, %s;\n", last(), recent())
	for _, v := range values[max(6, len(values)-20):] {
		if rnd.IntN(3) == 0 {
			fmt.Fprintf(&b, "\txor.b32 %%y, %%y, %s;\n", v)
		}
	}
	return b.String()
}

// pick32 is n, seldom one more.
func pick32(rnd *rand.Rand, n int) int {
	if rnd.IntN(6) == 0 {
		return n + 1
	}
	return n
}
