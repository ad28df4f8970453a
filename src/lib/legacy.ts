/**
 * Options of a field, a query parameter or a branch of a union that only older clients of the published contract use:
 * `Type.String({ ...LEGACY, description: '...' })`. Whatever has these options exists only at `/gcore`.
 */
export const LEGACY = { 'x-legacy': true, deprecated: true } as const;

/**
 * Options of a nullable field that an older client sends as an empty text, or as 0, where it has no value. At `/gcore` that is read
 * as absent. Only for a field that allows nothing more when it is absent.
 */
export const EMPTY_AS_ABSENT = { 'x-empty': 'absent' } as const;

/**
 * Options of a field of a body, or of a query parameter, that is an older name of another one. What comes by the older
 * name is read as the other before anything is checked.
 */
export const olderNameOf = (name: string) => ({
  ...LEGACY,
  'x-older-name-of': name,
  description: `Same as \`${name}\``,
});
