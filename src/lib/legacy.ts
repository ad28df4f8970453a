/**
 * Options of a field, a query parameter or a branch of a union that only older clients of the published
 * contract use: `Type.String({ ...LEGACY, description: '...' })`. Whatever has these options exists only at
 * `/gcore`.
 */
export const LEGACY = { 'x-legacy': true, deprecated: true } as const;
