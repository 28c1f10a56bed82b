package validate

import "testing"

func TestTmp(t *testing.T) {
	rows, err := Load("/work/shared/hardware/h200")
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, r := range rows {
		n[r.Set]++
	}
	t.Log(n, len(rows))
}
