package interchange

// Rules are the descriptions of SARIF's rules.
var Rules = rules
