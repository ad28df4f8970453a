const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

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
