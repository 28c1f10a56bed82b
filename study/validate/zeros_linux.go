package validate

import "syscall"

// mapNoReserve: the reservation does not count as used memory.
const mapNoReserve = syscall.MAP_NORESERVE
