import { expect, it } from 'vitest';
import { holdsMoreValues, repeatedName } from './json-body.ts';

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

it.each([
  ['{"a":1,"a":1}', 'a'],
  ['{"a":1,"b":{"c":[0,{"d":1,"e":2,"d":3}]}}', 'b.c.1.d'],
  ['{"a":{"x":1},"b":2,"a":3}', 'a'],
  ['{"\\u0061":1,"a":2}', 'a'],
  ['{"a\\"b":1,"a\\"b":2}', 'a"b'],
  ['[[],[{"":1,"":2}]]', '1.0.'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ['{"a":{},"b":{"a":{}},"c":["a","a"],"d":"a","e":["d",{"d":1}]}', undefined],
  ['{"a":"a","A":"{\\"a\\":1,\\"a\\":2}"}', undefined],
  ['[{"a":1},{"a":1}]', undefined],
  ['"a"', undefined],
  ['{ "a" : [ ] , "b" : { } }', undefined],
])('of %s, finds the name that an object has twice', (text, path) => {
  expect(() => JSON.parse(text)).not.toThrow();
  expect(repeatedName(text)).toBe(path);
});
