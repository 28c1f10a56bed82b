package workloads

import (
	"embed"
	"io/fs"
	"slices"
)

//go:embed */*.yaml */*.ptx */*.sass */*.cu ncc/README.md ncc/expected/*.txt
var bundled embed.FS

// Bundled is the file system of the bundled workloads: one folder each, with a study.yaml, the kernel's PTX and its CUDA source.
func Bundled() fs.FS { return bundled }

// BundledNames lists the folders of Bundled that have a study or workload to run.
func BundledNames() []string {
	entries, err := bundled.ReadDir(".")
	if err != nil {
		panic("workloads: embedded files cannot be listed: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		if _, err := fs.Stat(bundled, e.Name()+"/study.yaml"); e.IsDir() && err == nil {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}
