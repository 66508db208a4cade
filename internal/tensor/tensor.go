// Package tensor holds the number formats that tensors are stored in and
// computed from: IEEE half precision and blocks of eight-bit integers. It
// converts single values and single blocks; it knows nothing of shapes.
//
// Every conversion gives the same bits on every platform.
package tensor
