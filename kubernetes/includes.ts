/** Whether everything in `part` is in `whole` as well; lists have to be of the same length. */
export function includes(whole: unknown, part: unknown): boolean {
  if (part === null || typeof part !== 'object') return whole === part;
  if (whole === null || typeof whole !== 'object') return false;
  if (Array.isArray(part) && (!Array.isArray(whole) || whole.length !== part.length)) return false;
  return Object.entries(part).every(([name, value]) => includes((whole as Record<string, unknown>)[name], value));
}
