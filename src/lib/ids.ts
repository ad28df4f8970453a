const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text may be sent to the database as a uuid. Anything else names nothing, so it is a 404 in a path. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
