package strictyaml

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Unmarshaler is implemented by values with their own notation.
type Unmarshaler interface {
	UnmarshalNode(Node) error
}

// Decode parses the text and fills the value that into points to. Struct fields are named by their yaml tag, "-" hides
// a field, and after a comma the tag can say more:
//
//	name,required   a missing key is an error
//	name,verbatim   a string that may be written like a number or a switch and is taken as it is written
//	name,single     a list of which a single value stands for a list of one
//	,inline         the keys of an embedded struct are the outer struct's
//
// Options go together (optional,single); other ones, such as optional, are for other readers of the tag.
func Decode(file string, text []byte, into any) error {
	n, err := Parse(file, text)
	if err != nil {
		return err
	}
	return n.Decode(into)
}

// Decode fills the value that into points to from the node.
func (n Node) Decode(into any) error { return n.decode(reflect.ValueOf(into).Elem()) }

var placeType = reflect.TypeOf(Place{})

func (n Node) decode(v reflect.Value) error {
	if v.CanAddr() {
		if u, ok := v.Addr().Interface().(Unmarshaler); ok {
			return u.UnmarshalNode(n)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		if err := n.decode(p.Elem()); err != nil {
			return err
		}
		v.Set(p)
		return nil
	case reflect.Struct:
		return n.decodeStruct(v)
	case reflect.Slice:
		return n.decodeSlice(v)
	case reflect.Map:
		return n.decodeMap(v)
	case reflect.String:
		if n.Kind != String {
			return n.wrongType("a string", n.Kind == Int || n.Kind == Float || n.Kind == Bool)
		}
		v.SetString(n.Text)
	case reflect.Bool:
		if n.Kind != Bool {
			return n.wrongType("true or false", false)
		}
		v.SetBool(strings.EqualFold(n.Text, "true"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, err := n.Int()
		if err != nil {
			return err
		}
		if v.OverflowInt(i) {
			return n.Errorf("%s is out of range", n.Text)
		}
		v.SetInt(i)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		u, err := n.Uint()
		if err != nil {
			return err
		}
		if v.OverflowUint(u) {
			return n.Errorf("%s is out of range", n.Text)
		}
		v.SetUint(u)
	case reflect.Float32, reflect.Float64:
		f, err := n.Float()
		if err != nil {
			return err
		}
		v.SetFloat(f)
	default:
		panic("strictyaml: cannot decode into " + v.Type().String())
	}
	return nil
}

func (n Node) wrongType(want string, quote bool) error {
	hint := ""
	if quote {
		hint = "; put it in quotes"
	}
	return n.Errorf("expected %s, found %s%s", want, n.show(), hint)
}

// field is a struct field that a key of a mapping fills.
type field struct {
	value   reflect.Value
	options []string
}

func (f field) has(option string) bool { return slices.Contains(f.options, option) }

func (n Node) decodeStruct(v reflect.Value) error {
	fields := map[string]field{}
	var names, required []string
	collect(v, n.Place(), func(name string, f field) {
		fields[name] = f
		names = append(names, name)
		if f.has("required") {
			required = append(required, name)
		}
	})
	if n.Kind != Mapping {
		return n.wrongType("a mapping"+keysText(names, required), false)
	}
	for _, p := range n.Pairs {
		f, ok := fields[p.Key]
		if !ok {
			return p.UnknownKey(names)
		}
		value := p.Value
		switch {
		case f.has("verbatim") && value.IsScalar():
			value.Kind = String
		case f.has("single") && value.IsScalar():
			value = Node{src: value.src, Kind: Sequence, Pos: value.Pos, Items: []Node{value}}
		}
		if err := value.decode(f.value); err != nil {
			return err
		}
	}
	for _, name := range required {
		if _, ok := n.Get(name); !ok {
			return n.Errorf("missing key %q", name)
		}
	}
	return nil
}

// keysText shows a mapping's keys in a message, the required ones alone where there are many.
func keysText(names, required []string) string {
	const most = 8
	if len(names) > most {
		names = required
	}
	if len(names) == 0 || len(names) > most {
		return ""
	}
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name + ": ..."
	}
	return " such as {" + strings.Join(parts, ", ") + "}"
}

// UnknownKey is the error for a key that is not among names.
func (p Pair) UnknownKey(names []string) error {
	return p.Errorf("unknown key %q%s", p.Key, DidYouMean(p.Key, names))
}

func collect(v reflect.Value, at Place, add func(name string, f field)) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		options := strings.Split(rest, ",")
		switch {
		case f.Type == placeType && f.Name == "Place":
			v.Field(i).Set(reflect.ValueOf(at))
		case slices.Contains(options, "inline"):
			collect(v.Field(i), at, add)
		case name == "-" || !f.IsExported():
		case name != "":
			add(name, field{v.Field(i), options})
		}
	}
}

func (n Node) decodeSlice(v reflect.Value) error {
	if n.Kind != Sequence {
		return n.wrongType("a list", false)
	}
	out := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		if err := item.decode(out.Index(i)); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

func (n Node) decodeMap(v reflect.Value) error {
	if n.Kind != Mapping {
		return n.wrongType("a mapping", false)
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Pairs))
	for _, p := range n.Pairs {
		elem := reflect.New(v.Type().Elem()).Elem()
		if err := p.Value.decode(elem); err != nil {
			return err
		}
		key := reflect.New(v.Type().Key()).Elem()
		keyNode := Node{src: n.src, Kind: String, Pos: p.At, Text: p.Key}
		if key.Kind() != reflect.String {
			keyNode.Kind = Int
		}
		if err := keyNode.decode(key); err != nil {
			return err
		}
		out.SetMapIndex(key, elem)
	}
	v.Set(out)
	return nil
}

// Int is the node as a signed 64-bit integer; 0x, 0o, 0b prefixes and underscores are accepted.
func (n Node) Int() (int64, error) {
	if n.Kind != Int {
		return 0, n.wrongType("an integer", false)
	}
	i, err := strconv.ParseInt(n.Text, 0, 64)
	if err != nil {
		return 0, n.Errorf("%s does not fit in a signed 64-bit integer", n.Text)
	}
	return i, nil
}

// Uint is the node as an unsigned 64-bit integer.
func (n Node) Uint() (uint64, error) {
	if n.Kind != Int {
		return 0, n.wrongType("an integer", false)
	}
	if strings.HasPrefix(n.Text, "-") {
		return 0, n.Errorf("%s is negative; expected 0 or more", n.Text)
	}
	u, err := strconv.ParseUint(strings.TrimPrefix(n.Text, "+"), 0, 64)
	if err != nil {
		return 0, n.Errorf("%s does not fit in an unsigned 64-bit integer", n.Text)
	}
	return u, nil
}

// Float is the node as a floating-point number; integers are accepted.
func (n Node) Float() (float64, error) {
	switch n.Kind {
	case Int:
		if i, err := strconv.ParseInt(n.Text, 0, 64); err == nil {
			return float64(i), nil
		}
	case Float:
		switch t := strings.ToLower(strings.TrimLeft(n.Text, "+-")); t {
		case ".inf":
			if strings.HasPrefix(n.Text, "-") {
				return math.Inf(-1), nil
			}
			return math.Inf(1), nil
		case ".nan":
			return math.NaN(), nil
		}
	default:
		return 0, n.wrongType("a number", false)
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(n.Text, "_", ""), 64)
	if err != nil {
		return 0, n.Errorf("%s is not a number", n.Text)
	}
	return f, nil
}
