package workloads

import (
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/isa"
)

// Image says that a buffer is a texture: {width: 64, height: 16, format: u8, channels: 4}.
type Image struct {
	Width, Height uint32 // texels; height 1: one-dimensional
	Channels      int    // 1, 2 or 4
	Format        isa.Type
	Normalized    bool // machine code reads integers of 8 and 16 bits scaled to 1
}

// imageFormats are the types of a texel's component.
var imageFormats = map[string]isa.Type{"u8": isa.U8, "s8": isa.S8, "u16": isa.U16, "s16": isa.S16, "u32": isa.U32, "s32": isa.S32, "f32": isa.F32}

var (
	imageFormatNames = []string{"u8", "s8", "u16", "s16", "u32", "s32", "f32"}
	imageKeys        = []string{"width", "height", "format", "channels", "normalized"}
)

// UnmarshalNode reads the mapping.
func (g *Image) UnmarshalNode(n strictyaml.Node) error {
	if n.Kind != strictyaml.Mapping {
		return n.Errorf("a texture is a mapping such as {width: 64, height: 16, format: u8, channels: 4}")
	}
	*g = Image{Height: 1, Channels: 1, Format: isa.U32}
	for _, p := range n.Pairs {
		switch p.Key {
		case "width", "height", "channels":
			u, err := p.Value.Uint()
			if err != nil {
				return err
			}
			switch {
			case p.Key == "channels" && u != 1 && u != 2 && u != 4:
				return p.Value.Errorf("a texel has 1, 2 or 4 channels, not %d", u)
			case u == 0 || u > 1<<27:
				return p.Value.Errorf("%s must be 1 to 134217728, not %d", p.Key, u)
			case p.Key == "width":
				g.Width = uint32(u)
			case p.Key == "height":
				g.Height = uint32(u)
			default:
				g.Channels = int(u)
			}
		case "normalized":
			if err := p.Value.Decode(&g.Normalized); err != nil {
				return err
			}
		case "format":
			t, ok := imageFormats[p.Value.Text]
			if !ok {
				return p.Value.Errorf("unknown format %q%s; possible: %s", p.Value.Text, strictyaml.DidYouMean(p.Value.Text, imageFormatNames), strings.Join(imageFormatNames, ", "))
			}
			g.Format = t
		default:
			return p.UnknownKey(imageKeys)
		}
	}
	if g.Width == 0 {
		return n.Errorf("the texture needs its width in texels")
	}
	return nil
}

// split separates the arguments that are parameters of the kernel from images for its texture references, which bind by name.
func (c *Case) split(p *isa.Program) (params, images []int) {
	for i := range c.Args {
		a := &c.Args[i]
		if a.Texture != nil && slices.ContainsFunc(p.TexRefs, func(r isa.TexRef) bool { return r.Name == a.Name }) {
			images = append(images, i)
		} else {
			params = append(params, i)
		}
	}
	return params, images
}

// addTexture makes the argument's buffer an image of the launch.
func (a *Arg) addTexture(l *isa.Launch, b *isa.Buffer) {
	if g := a.Texture; g != nil {
		l.Textures = append(l.Textures, isa.Texture{Name: a.Name, Addr: b.Addr, Width: g.Width, Height: g.Height, Channels: g.Channels, Format: g.Format, Normalized: g.Normalized})
	}
}
