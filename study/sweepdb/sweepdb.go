// Package sweepdb writes the results of a sweep as a SQLite database.
package sweepdb

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite", in Go alone

	"github.com/sarchlab/smsim/study"
)

// Write makes a database with one table, points: a row for each point, a column for each property. An empty cell is
// NULL. An older file of that name is replaced once the new one is complete.
func Write(name string, t *study.SweepTable) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".smsim-*.sqlite")
	if err != nil {
		return err
	}
	tmp := f.Name()
	f.Close()
	defer os.Remove(tmp) // fails once renamed, as it should
	db, err := sql.Open("sqlite", tmp)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := fill(db, t); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := db.Close(); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}

func fill(db *sql.DB, t *study.SweepTable) error {
	cols := make([]string, len(t.Columns))
	marks := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		kind := "TEXT"
		if t.Numeric[i] {
			kind = "NUMERIC"
		}
		cols[i], marks[i] = `"`+strings.ReplaceAll(c, `"`, `""`)+`" `+kind, "?"
	}
	if _, err := db.Exec("CREATE TABLE points (" + strings.Join(cols, ", ") + ")"); err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // fails once committed, as it should
	insert, err := tx.Prepare("INSERT INTO points VALUES (" + strings.Join(marks, ", ") + ")")
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, row := range t.Rows {
		values := make([]any, len(row))
		for i, v := range row {
			values[i] = cell(v, t.Numeric[i])
		}
		if _, err := insert.Exec(values...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// cell is the value to store: NULL where there is none, a whole number where it is one.
func cell(v string, numeric bool) any {
	if v == "" {
		return nil
	}
	if !numeric {
		return v
	}
	if n, err := strconv.ParseInt(v, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(v, 64); err == nil {
		return f
	}
	return v
}
