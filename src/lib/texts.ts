/** Returns a test for texts: `*` stands for any characters, `?` for one. */
export function globOf(pattern: string): (text: string) => boolean {
  const parts = [...pattern].map((one) => {
    if (one === '*') return '.*';
    return one === '?' ? '.' : one.replace(/[\\^$.|+()[\]{}]/, String.raw`\$&`);
  });
  const expression = new RegExp(`^${parts.join('')}$`, 'su');
  return (text) => expression.test(text);
}

/** Returns a LIKE pattern for texts that contain `text`, with `%`, `_` and `\` escaped. */
export const containing = (text: string): string => `%${beginning(text)}`;

/** The same for texts that begin with it. */
export const beginning = (text: string): string => `${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Returns the beginning of somebody else's text as the database can keep it: without NUL and half characters. */
export const keptText = (text: string, most: number): string => text.replaceAll('\0', '').slice(0, most).toWellFormed();

/** Longer names are hardly typing errors, and the cost of the distance grows with the product of the lengths. */
const MAX_LENGTH = 64;

/** Returns the known name that was most likely meant: at most a third of its characters differ. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const typed = plain(name);
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const most = Math.min(Math.floor(candidate.length / 3), (best?.distance ?? MAX_LENGTH) - 1);
    const distance = editDistance(typed, plain(candidate), most);
    if (distance <= most) best = { name: candidate, distance };
  }
  return best?.name;
}

/** Only the letters of flags and fields matter. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll('_', '-').replace(/^-+/, '');
}

/**
 * Counts the insertions, deletions and replacements that turn one text into the other (Levenshtein). Stops
 * beyond `most`, since a stranger may send many names that resemble many known ones.
 */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    if (Math.min(...row) > most) return Number.POSITIVE_INFINITY;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
