//go:build unix && !linux

package validate

// mapNoReserve is not needed where the system overcommits anyway.
const mapNoReserve = 0
