package lower

// operandRow says what the operands of an operation are, one word each: T, U and V are the first, second and third type among
// the instruction's modifiers, W is the type of twice T's width; another name is a type. "=" marks a result, ":" the largest literal, "~" that wider
// registers fit, { } a list of such elements, "p" a predicate, "*" anything.
type operandRow struct {
	when     string // modifier that the instruction must have for this row, "": none
	operands string
}

// operandRows are the operand types of PTX operations; those not listed are checked by their rule alone. Of several rows that
// apply, the one with as many words as the instruction has operands counts, or the first.
var operandRows = map[string][]operandRow{
	"add":   {{"", "=T T T"}},
	"sub":   {{"", "=T T T"}},
	"addc":  {{"", "=T T T"}},
	"subc":  {{"", "=T T T"}},
	"mul":   {{"wide", "=W T T"}, {"", "=T T T"}},
	"mad":   {{"wide", "=W T T W"}, {"", "=T T T T"}},
	"madc":  {{"", "=T T T T"}},
	"mul24": {{"", "=T T T"}},
	"mad24": {{"", "=T T T T"}},
	"sad":   {{"", "=T T T T"}},
	"div":   {{"", "=T T T"}},
	"rem":   {{"", "=T T T"}},
	"abs":   {{"", "=T T"}},
	"neg":   {{"", "=T T"}},
	"min":   {{"", "=T T T T"}},
	"max":   {{"", "=T T T T"}},
	"dp4a":  {{"", "=u32 u32 u32 u32"}},
	"dp2a":  {{"", "=u32 u32 u32 u32"}},

	"popc":  {{"", "=u32 T"}},
	"clz":   {{"", "=u32 T"}},
	"bfind": {{"", "=u32 T"}},
	"brev":  {{"", "=T T"}},
	"bfe":   {{"", "=T T u32:255 u32:255"}},
	"bfi":   {{"", "=T T T u32:255 u32:255"}},
	"fns":   {{"", "=b32 b32 b32 b32"}},
	"szext": {{"", "=T T u32"}},
	"bmsk":  {{"", "=u32 u32 u32"}},

	"and":  {{"", "=T T T"}},
	"or":   {{"", "=T T T"}},
	"xor":  {{"", "=T T T"}},
	"not":  {{"", "=T T"}},
	"cnot": {{"", "=T T"}},
	"lop3": {{"", "=T T T T u32 p"}},
	"shl":  {{"", "=T T u32"}},
	"shr":  {{"", "=T T u32"}},
	"shf":  {{"", "=T T T u32"}},
	"prmt": {{"", "=T T T T"}},

	"set":  {{"", "=T U U p"}},
	"setp": {{"", "p T T p"}},
	"selp": {{"", "=T T T p"}},
	"slct": {{"", "=T T T U"}},

	"fma":      {{"", "=T T T T"}},
	"testp":    {{"", "p T"}},
	"copysign": {{"", "=T T T"}},
	"rcp":      {{"", "=T T"}},
	"sqrt":     {{"", "=T T"}},
	"rsqrt":    {{"", "=T T"}},
	"sin":      {{"", "=T T"}},
	"cos":      {{"", "=T T"}},
	"lg2":      {{"", "=T T"}},
	"ex2":      {{"", "=T T"}},
	"tanh":     {{"", "=T T"}},

	"mov": {{"", "=T T"}},
	"cvt": {{"pack", "=u32 s32 s32 u32"}, {"", "=T~ U~"}},
	"ld":  {{"", "={T~} * *"}}, // the last operand of memory instructions is a cache policy
	"ldu": {{"", "={T~} *"}},
	"st":  {{"", "* {T~} *"}},

	"atom": {{"cas", "=T * T T"}, {"cas", "=T * T T *"}, {"", "=T * T"}, {"", "=T * T *"}},
	"red":  {{"", "* T"}, {"", "* T *"}},

	"shfl":       {{"", "=T T b32 b32 u32"}},
	"vote":       {{"ballot", "=b32 p u32"}, {"", "p p u32"}},
	"match":      {{"", "=u32 T u32"}},
	"activemask": {{"", "=b32"}},
	"redux":      {{"", "=T T u32"}},
	"bar":        {{"warp", "u32"}, {"popc", "=u32 u32 p"}, {"popc", "=u32 u32 u32 p"}, {"red", "p u32 p"}, {"red", "p u32 u32 p"}, {"", "u32 u32"}},
	"barrier":    {{"popc", "=u32 u32 p"}, {"popc", "=u32 u32 u32 p"}, {"red", "p u32 p"}, {"red", "p u32 u32 p"}, {"", "u32 u32"}},
	"nanosleep":  {{"", "u32"}},

	"vadd":      {{"", "=T U V T"}},
	"vsub":      {{"", "=T U V T"}},
	"vabsdiff":  {{"", "=T U V T"}},
	"vmin":      {{"", "=T U V T"}},
	"vmax":      {{"", "=T U V T"}},
	"vshl":      {{"", "=T U V T"}},
	"vshr":      {{"", "=T U V T"}},
	"vmad":      {{"", "=T U V T"}},
	"vset":      {{"", "=u32 T U u32"}},
	"vadd2":     {{"", "=T U V T"}},
	"vsub2":     {{"", "=T U V T"}},
	"vavrg2":    {{"", "=T U V T"}},
	"vabsdiff2": {{"", "=T U V T"}},
	"vmin2":     {{"", "=T U V T"}},
	"vmax2":     {{"", "=T U V T"}},
	"vset2":     {{"", "=u32 T U u32"}},
	"vadd4":     {{"", "=T U V T"}},
	"vsub4":     {{"", "=T U V T"}},
	"vavrg4":    {{"", "=T U V T"}},
	"vabsdiff4": {{"", "=T U V T"}},
	"vmin4":     {{"", "=T U V T"}},
	"vmax4":     {{"", "=T U V T"}},
	"vset4":     {{"", "=u32 T U u32"}},
}
