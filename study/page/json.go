package page

import (
	"encoding/json"
	"io"
)

// JSON writes an answer as indented JSON; characters of PTX and expressions such as < and & stay as they are.
func JSON(w io.Writer, answer any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(answer)
}
