package configs

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

// most is how many names a message lists.
const most = 16

// suggest adds the candidate that was probably meant to a message, or what there is where that is not too much to read.
func suggest(message, name string, candidates []string) string {
	if len(candidates) <= most || strictyaml.Nearest(name, candidates) != "" {
		return message + strictyaml.DidYouMean(name, candidates)
	}
	return message
}

// some lists names, the first of them when there are many.
func some(names []string) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
