// Package advise finds where integer instructions would help a PTX kernel and proves it by simulation. Rules recognise
// code as compilers write it, under conditions that are proved from the text (widths of values, single uses, dominance),
// and rewrite it; [Advise] checks that the outputs stay the same, simulates every rewrite alone and all together on each
// architecture, and says why there is a gain or none.
package advise
