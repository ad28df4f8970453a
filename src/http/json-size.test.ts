import { expect, it } from 'vitest';
import { holdsMoreValues } from './json-size.ts';

it.each([
  ['', 0],
  ['"a,b[{"', 0],
  ['[1,2,3]', 3],
  ['{"a":1,"b":{"c":[]}}', 4],
  ['["\\",",",\\\\","[{,"]', 3],
  ['["\\\\\\",,,",1]', 2],
  ['["no end ,,,,', 1],
  ['"\\\\"', 0],
])('counts the commas and opening brackets of %s that are in no text', (text, values) => {
  expect(holdsMoreValues(text, values)).toBe(false);
  if (values > 0) expect(holdsMoreValues(text, values - 1)).toBe(true);
});
