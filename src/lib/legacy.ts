/**
 * Options of a field, a query parameter or a branch of a union that only older clients of the published contract send
 * or read: `Type.String({ ...LEGACY, description: '...' })`. What carries them exists at `/gcore` alone.
 */
export const LEGACY = { 'x-legacy': true, deprecated: true } as const;
