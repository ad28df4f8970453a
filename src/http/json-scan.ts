/* What `JSON.parse` doesn't tell of a text, found in one pass. */

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const BRACKET_END = 0x5d;
const BRACE_END = 0x7d;

/**
 * Whether a JSON text contains more than `limit` values, without parsing it: from one mebibyte of brackets,
 * `JSON.parse` would make half a million arrays, and everything after it would process each. Counts commas
 * and opening brackets, so an empty list or object counts twice.
 */
export function holdsMoreValues(text: string, limit: number): boolean {
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COMMA:
      case BRACKET:
      case BRACE:
        if (++values > limit) return true;
    }
  }
  return false;
}

/**
 * Returns the path of the first name that an object of a valid JSON text has twice. `JSON.parse` keeps the last value,
 * other programs the first one, so that what was checked on the way might not be what is done (RFC 8259, 4).
 */
export function repeatedName(text: string): string | undefined {
  const open: { names: Set<string> | undefined; at: string | number }[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const inner = open.at(-1);
    switch (text.charCodeAt(at)) {
      case BRACE:
        open.push({ names: new Set(), at: '' });
        isName = true;
        break;
      case BRACKET:
        open.push({ names: undefined, at: 0 });
        isName = false;
        break;
      case BRACE_END:
      case BRACKET_END:
        open.pop();
        isName = false;
        break;
      case COMMA:
        isName = inner?.names !== undefined;
        if (typeof inner?.at === 'number') inner.at++;
        break;
      case QUOTE: {
        const end = endOfString(text, at);
        if (isName && inner?.names) {
          const name: string = JSON.parse(text.slice(at, end + 1));
          inner.at = name;
          if (inner.names.has(name)) return open.map((one) => one.at).join('.');
          inner.names.add(name);
          isName = false;
        }
        at = end;
      }
    }
  }
  return undefined;
}

/**
 * Returns the position of the closing quote of the string that begins at `start`, or the end of the text if
 * there is none.
 */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}
