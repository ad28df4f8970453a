/**
 * Options of a nullable field whose published type is a plain text or number. Generated clients fail on null,
 * so the answer at `/gcore` has an empty text instead, or leaves the field out.
 */
export const NULL_AS_EMPTY = { 'x-null': 'empty' } as const;
export const NULL_AS_ABSENT = { 'x-null': 'absent' } as const;
