package configs

import "testing"

func TestEveryArchitectureLoads(t *testing.T) {
	for _, name := range List() {
		a, err := Load(name, nil)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if a.Name != name {
			t.Errorf("%s is called %s", name, a.Name)
		}
	}
}
