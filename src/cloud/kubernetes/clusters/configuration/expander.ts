/** The expanders in the specification. Upstream has others, which are not offered. */
export const EXPANDERS = ['random', 'most-pods', 'least-waste', 'price', 'priority', 'grpc'] as const;

/**
 * Returns what is wrong with an expander list, or undefined. The autoscaler splits at commas without trimming, takes
 * each name once, and refuses names after `random`, which leaves nothing to choose from (cluster-autoscaler
 * expander_factory.go).
 */
export function expanderFault(text: string): string | undefined {
  if (/\s/.test(text)) return 'Must not contain white space. Write the list as least-waste,random.';
  const names = text.split(',');
  if (names.includes('')) {
    return 'Must not contain an empty name. Separate names by a single comma, with none at the start or end.';
  }
  const known: readonly string[] = EXPANDERS;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) return `Unknown expander ${unknown}. Use one of: ${EXPANDERS.join(', ')}.`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `Contains ${twice} twice. List each expander once.`;
  if (names.slice(0, -1).includes('random')) {
    return 'If random is used, it must be the last expander: it always picks one option, so expanders after it have no effect.';
  }
  return undefined;
}
