const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

/**
 * Whether a JSON text holds more than so many values, found without parsing it: of one mebibyte of brackets alone
 * `JSON.parse` makes half a million arrays, and everything after it would meet each of them. Counts commas and opening
 * brackets, so an empty list or object counts twice.
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

/** Where the string that begins at `start` has its closing quote; one without reaches to the end. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}
