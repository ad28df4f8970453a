const MOST_SHOWN = 300;
/** Line breaks and other controls, and what turns the direction of writing. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Turns what somebody typed into one short line. Programs that read mail make links of addresses, which would be
 * ours as it seems, so an address loses what makes it one.
 */
export function plain(text: string): string {
  const line = text.toWellFormed().replace(CONTROLS, ' ').replaceAll('://', ' ').trim();
  const characters = [...line.slice(0, 2 * MOST_SHOWN + 2)];
  return characters.length > MOST_SHOWN ? `${characters.slice(0, MOST_SHOWN - 1).join('')}…` : line;
}

/** Does so with every text. */
export function plainData<Data extends object>(data: Data): Data {
  const entries = Object.entries(data).map(([name, text]) => [name, plain(String(text))]);
  return Object.fromEntries(entries) as Data;
}
