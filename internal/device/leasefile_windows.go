package device

import "io/fs"

// noFollow is nothing: making links is a privilege on Windows, and a link is
// refused when it is found.
const noFollow = 0

// links is not known without a further call, which this is not worth: who may
// make a link to a file on Windows may write to it.
func links(fs.FileInfo) uint64 { return 1 }
