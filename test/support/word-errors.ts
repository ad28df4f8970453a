/** The model writes `mr` for what readers' scripts call `mister`. */
export const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/\bmr\b/g, 'mister')
    .replace(/[^a-z' ]/g, ' ')
    .split(/\s+/)
    .filter(Boolean);

/** Returns inserted, omitted and wrong words per word said. */
export function wordErrorRate(said: string, heard: string): number {
  const reference = wordsOf(said);
  const hypothesis = wordsOf(heard);
  let row = hypothesis.map((_, index) => index + 1);
  for (const [index, word] of reference.entries()) {
    let diagonal = index;
    let left = index + 1;
    row = row.map((above, column) => {
      left = Math.min(diagonal + (word === hypothesis[column] ? 0 : 1), above + 1, left + 1);
      diagonal = above;
      return left;
    });
  }
  return (row.at(-1) ?? reference.length) / reference.length;
}
