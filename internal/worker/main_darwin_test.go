package worker_test

var systemPrograms = map[string]func(string){"signal": signalSelf}
