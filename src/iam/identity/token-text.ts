/**
 * The text of an API token: `<id>_<secret>` (v2) or `<id>$<secret>` (v1); both authenticate everywhere.
 * The id is for look-up and is no secret.
 */
export function parseTokenText(text: string): { id: number; secret: string } | undefined {
  const match = /^(\d{1,15})[_$]([\x21-\x7e]{1,512})$/.exec(text);
  if (!match?.[1] || !match[2]) return undefined;
  return { id: Number(match[1]), secret: match[2] };
}

export function tokenText(version: 1 | 2, id: number, secret: string): string {
  return `${id}${version === 1 ? '$' : '_'}${secret}`;
}
