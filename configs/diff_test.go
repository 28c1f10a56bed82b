package configs

import "testing"

func TestDiff(t *testing.T) {
	a := load(t, "sm_86")
	if d := Diff(a, a); len(d) != 0 {
		t.Errorf("%v differs from itself", d)
	}
	b, err := Load("sm_86", []Override{{Key: "classes.idp.issue_interval", Value: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	d := Diff(a, b)
	if len(d) != 1 || d[0].Path != "classes.idp.issue_interval" || d[0].A.Value != "2" || d[0].B.Value != "1" {
		t.Errorf("%+v", d)
	}
	only := map[string]bool{}
	for _, x := range Diff(load(t, "sm_61"), load(t, "sm_70")) {
		switch {
		case x.A == nil:
			only["b "+x.Path] = true
		case x.B == nil:
			only["a "+x.Path] = true
		case x.A.Value == x.B.Value:
			t.Errorf("%s does not differ", x.Path)
		}
	}
	if !only["a classes.xmad.latency"] || !only["b classes.iabs.latency"] {
		t.Errorf("rows of one side: %v", only)
	}
}
