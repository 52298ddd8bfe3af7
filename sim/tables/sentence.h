/* Sentences of a row, written from its other values: a column has the words (struct frame_column).
 *
 *   {name}              a value as its column's unit reads, without a range
 *   {name~}             with two digits and its range: "120 (100 to 140)", a share "12 % (8.5 to 16 %)"
 *   {name?one|other}    the first if the value is 1
 *   [these|those]       the first whose values are all there; nothing if there is none
 *   <name:words>        rows that frame_keep() or frame_take() keeps: words from each that has their values,
 *                       joined by commas, or with <name;words> by semicolons. An empty one is not there
 *
 * A name is that of a column's key, or of a column without one its own. */
#pragma once

#include "tables/frame.h"

/* Write the sentences of the row that is being filled. One with a value that is not there, outside
 * of brackets, is left out. */
void frame_say(struct frame *frame);
