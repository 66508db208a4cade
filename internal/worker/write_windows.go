package worker

import "os"

// writeNow writes nothing here, for pipes block.
func writeNow(*os.File, []byte) int { return 0 }
