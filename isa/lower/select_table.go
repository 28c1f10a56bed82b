package lower

// selectors maps a PTX operation to its selection rule.
var selectors = map[string]selector{}
