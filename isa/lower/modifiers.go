package lower

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// otherModifiers are words that PTX has among modifiers and no form of syntaxText: of operations that are checked by their rule alone.
const otherModifiers = `sat ftz rna rs relu satfinite scaled x2 x4 shr7 shr15 po h0 h1 b0 b1 b2 b3 add min max
	to base level grad 1d 2d 3d a1d a2d cube acube 2dms a2dms r g b a p trap clamp zero width height depth channel_data_type
	channel_order normalized_coords array_size num_mipmap_levels num_samples idx wait arrive red popc warp proxy alias async
	generic mbarrier_init tensormap init inval expect_tx complete_tx arrive_drop test_wait try_wait pending_count parity noComplete noinc
	commit_group wait_group wait_all bulk aligned mask fractional cvt range vec_32_bit wait launch_dependents inc dec u8x4 s8x4
	e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2 ue8m0x2 tf32 f32x2 u4 s4 u2 s2 full approx volatile unified nc mmio b128 wrap cc texref samplerref surfref`

var (
	everyModifier = knownModifiers()
	reTypeWord    = regexp.MustCompile(`^[a-z]{1,2}[0-9]+(x[0-9])?$`)
)

func knownModifiers() map[string]bool {
	all := map[string]bool{}
	for _, forms := range syntaxForms {
		for _, f := range forms {
			for _, g := range append(slices.Concat(f.needed, f.may), f.first) {
				for _, m := range g {
					all[m] = true
				}
			}
		}
	}
	for _, m := range strings.Fields(otherModifiers) {
		all[m] = true
	}
	for m := range valueTypes {
		all[m] = true
	}
	return all
}

// unknownModifier is what to say of the first word among the modifiers that no instruction of PTX has; "" if there is none.
func unknownModifier(in *ptx.Instr) string {
	for _, m := range in.Mods {
		if everyModifier[m] || strings.Contains(m, "::") {
			continue
		}
		var own, alike []string // modifiers of the operation; those that could stand in place of the word
		for _, f := range syntaxForms[in.Op] {
			for _, g := range append(slices.Concat(f.needed, f.may), f.first) {
				for _, x := range g {
					if !strings.Contains(x, "*") && !slices.Contains(own, x) {
						own = append(own, x)
						if reTypeWord.MatchString(m) && reTypeWord.MatchString(x) && (m[0] == 'v') == (x[0] == 'v') {
							alike = append(alike, x)
						}
					}
				}
			}
		}
		s := fmt.Sprintf("%s has no modifier .%s", in.Op, m)
		switch near := ptx.Suggest(m, own); {
		case near != "":
			return s + ": did you mean ." + near + "?"
		case len(alike) > 0:
			return s + ": it takes " + oneOf(alike)
		}
		return s
	}
	return ""
}
