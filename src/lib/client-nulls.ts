/**
 * Options of a nullable field whose published type is a plain text or number: at `/gcore`, where generated clients
 * stumble over null, the answer has an empty text instead, or leaves the field out.
 */
export const NULL_AS_EMPTY = { 'x-null': 'empty' } as const;
export const NULL_AS_ABSENT = { 'x-null': 'absent' } as const;
