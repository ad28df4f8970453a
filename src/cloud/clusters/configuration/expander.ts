/** The expanders in the specification. Upstream has others, which are not offered. */
export const EXPANDERS = ['random', 'most-pods', 'least-waste', 'price', 'priority', 'grpc'] as const;

/**
 * Returns what is wrong with an expander list, or undefined. The autoscaler splits at commas without trimming, takes
 * each name once, and refuses names after `random`, which leaves nothing to choose from (cluster-autoscaler
 * expander_factory.go).
 */
export function expanderFault(text: string): string | undefined {
  if (/\s/.test(text)) return 'Must not contain blanks: write the list as least-waste,random.';
  const names = text.split(',');
  if (names.includes('')) {
    return 'Must not have an empty name: separate names by one comma, with none at the beginning or the end.';
  }
  const known: readonly string[] = EXPANDERS;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) return `Unknown expander ${unknown}. Known are: ${EXPANDERS.join(', ')}.`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `Names ${twice} twice: give each expander once.`;
  if (names.slice(0, -1).includes('random')) {
    return 'Must end with random where random is used: it leaves one option, so nothing after it is asked.';
  }
  return undefined;
}
