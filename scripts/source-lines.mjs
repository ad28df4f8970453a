/**
 * Reduces the bundle's source map to what stack traces need: where in the bundle another line of our sources, or
 * another package's file, begins. `places` has [line, column, source, source line or 0, ...]; lines that follow
 * one by one in both are left out. It is a twentieth of the map.
 */
export function sourceLines({ sources, mappings }) {
  const names = sources.map((name) => name.replace(/^(\.\.\/)+/, ''));
  const places = [];
  let [source, line] = [0, 0];
  let last;
  for (const [at, text] of mappings.split(';').entries()) {
    let column = 0;
    for (const segment of text === '' ? [] : text.split(',')) {
      const [columns, sources = 0, lines = 0] = numbersIn(segment);
      column += columns;
      source += sources;
      line += lines;
      const ours = !names[source].startsWith('node_modules/');
      const place = ours ? `${source} ${line - at}` : `${source}`;
      if (place !== last) places.push(at + 1, column + 1, source, ours ? line + 1 : 0);
      last = place;
    }
  }
  return { sources: names, places };
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map([...DIGITS].map((digit, value) => [digit, value]));

/** Reads numbers of base 64 and variable length (VLQ). */
function numbersIn(segment) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const digit of segment) {
    const bits = VALUES.get(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}
