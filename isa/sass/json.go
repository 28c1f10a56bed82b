package sass

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// What nvdisasm -json prints: an object about the file, then a list of functions. An instruction has no address: it stands at the
// function's start plus its place in the list; one without opcode stands for a gap.
//
//	[{"SM": {"version": {"major": 9, "minor": 0}}, ...},
//	 [{"function-name": "copy", "start": 0, "length": 96,
//	   "sass-instructions": [{"predicate": "@P0", "opcode": "MOV", "operands": "R6,0x60"}, ...]}, ...]]

// isJSON tells nvdisasm's JSON from listings that are lines.
func isJSON(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) && bytes.Contains(text, []byte(`"sass-instructions"`))
}

type jsonHead struct {
	SM struct {
		Version struct {
			Major int `json:"major"`
			Minor int `json:"minor"`
		} `json:"version"`
	} `json:"SM"`
}

type jsonInst struct {
	Predicate string `json:"predicate"`
	Opcode    string `json:"opcode"`
	Operands  string `json:"operands"`
	Extra     string `json:"extra"`
}

// jsonReader goes through the text token by token, so that every instruction has its place.
type jsonReader struct {
	*reader
	text []byte
	dec  *json.Decoder
	sm   int
	line int // of the byte behind the last newline that place has passed
	from int // that byte
	seen int // bytes that place has looked at
}

// readJSON reads nvdisasm -json.
func (r *reader) readJSON(text []byte) error {
	text = bytes.TrimRight(text, " \t\r\n") // an error at the end is then on the last line
	j := &jsonReader{reader: r, text: text, dec: json.NewDecoder(bytes.NewReader(text)), line: 1}
	var head jsonHead
	if err := j.delim('['); err != nil {
		return err
	}
	line, col := j.place()
	if err := j.value(&head); err != nil {
		return err
	}
	if v := head.SM.Version; v.Major > 0 {
		sm := 10*v.Major + v.Minor
		if !slices.Contains(targets, sm) {
			return j.errorIn(line, col, targetHint, "the SM version is %d.%d, which is no target: known are sm_%d to sm_%d", v.Major, v.Minor, targets[0], targets[len(targets)-1])
		}
		r.target = targetState{sm: sm, line: 1, whole: true}
	}
	j.sm = r.target.sm
	if err := j.list(j.function); err != nil {
		return err
	}
	return j.delim(']')
}

// place is the line and column, from 1, of the next value.
func (j *jsonReader) place() (line, col int) {
	at := int(j.dec.InputOffset())
	for at < len(j.text) && strings.IndexByte(" \t\r\n,:", j.text[at]) >= 0 {
		at++
	}
	for ; j.seen < at; j.seen++ {
		if j.text[j.seen] == '\n' {
			j.line, j.from = j.line+1, j.seen+1
		}
	}
	return j.line, at - j.from + 1
}

// fault is an error at the next value.
func (j *jsonReader) fault(format string, args ...any) error {
	line, col := j.place()
	return j.errorIn(line, col, againHint, format, args...)
}

func (j *jsonReader) damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return j.fault("nvdisasm's JSON ends in the middle: the listing is damaged")
	}
	return j.fault("this is not the JSON of nvdisasm -json: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// delim takes one of [ ] { }.
func (j *jsonReader) delim(want json.Delim) error {
	at := j.fault("this is not the JSON of nvdisasm -json: expected %q", want.String())
	t, err := j.dec.Token()
	if err != nil {
		return j.damaged(err)
	}
	if t != want {
		return at
	}
	return nil
}

// value takes a whole value.
func (j *jsonReader) value(to any) error {
	line, col := j.place()
	err := j.dec.Decode(to)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		where := ""
		if wrong.Field != "" {
			where = fmt.Sprintf(" for %q", wrong.Field)
		}
		return j.errorIn(line, col, againHint, "nvdisasm's JSON has a %s%s, where its format has another kind of value", wrong.Value, where)
	}
	if err != nil {
		return j.damaged(err)
	}
	return nil
}

// list takes a list whose items the function takes.
func (j *jsonReader) list(item func() error) error {
	if err := j.delim('['); err != nil {
		return err
	}
	for j.dec.More() {
		if err := item(); err != nil {
			return err
		}
	}
	return j.delim(']')
}

// function takes one function. Code that starts where the code before it ends belongs to the same section: it is a part of that kernel
// under a name of its own, which calls name.
func (j *jsonReader) function() error {
	line, _ := j.place()
	if err := j.delim('{'); err != nil {
		return err
	}
	name, start := "", 0
	for j.dec.More() {
		key, err := j.dec.Token()
		if err != nil {
			return j.damaged(err)
		}
		switch key {
		case "function-name":
			err = j.value(&name)
		case "start":
			err = j.value(&start)
		case "sass-instructions":
			if name == "" {
				return j.fault("nvdisasm's JSON has the name of a function in front of its instructions, here is none")
			}
			err = j.instructions(name, start, line)
		default:
			var skipped json.RawMessage
			err = j.value(&skipped)
		}
		if err != nil {
			return err
		}
	}
	return j.delim('}')
}

// instructions takes the list of a function that starts at an address in its section; line is where the function begins in the text.
func (j *jsonReader) instructions(name string, start, line int) error {
	sm := j.sm
	if sm == 0 { // not said: what all targets have since Volta
		sm = 70
	}
	step := int(isa.NewTarget(sm).InstBytes)
	if start == 0 || j.f == nil {
		j.reader.start(name, line)
	} else {
		j.f.Labels[name] = len(j.f.Insts)
	}
	addr := start
	return j.list(func() error {
		line, col := j.place()
		var in jsonInst
		if err := j.value(&in); err != nil {
			return err
		}
		addr += step
		if in.Opcode == "" {
			return nil
		}
		if in.Predicate != "" && !strings.HasPrefix(in.Predicate, "@") {
			in.Predicate = "@" + in.Predicate
		}
		text := strings.Join(strings.Fields(in.Predicate+" "+in.Opcode+" "+in.Operands), " ")
		if err := j.instruction(j.f, fmt.Sprintf("/*%04x*/ %s ;%s", addr-step, text, in.Extra), line); err != nil {
			return err
		}
		if n := len(j.f.Insts); n > 0 {
			j.f.Insts[n-1].col = col
		}
		return nil
	})
}
