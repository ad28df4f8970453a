/** No address is longer: most servers take no more either. */
export const MAX_URL = 4096;

/**
 * Returns why a text can't be the address of a file, such as `example`; undefined if it can. Doesn't look up the host.
 */
export function fileUrlProblem(text: string, example: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The parser repairs a lot (spaces, backslashes, missing slashes); addresses that need it are refused.
  const sound = /^https?:\/\/[^\s\\/?#]/i.test(text) && !/[\s\\\p{Cc}]/u.test(text);
  if (sound && url && url.hostname !== '') return undefined;
  return `Must be the address of a file, http:// or https:// with a host, e.g. ${example}.`;
}

/** Returns an address that is safe to show and to log: without query and user name, which may contain secrets. */
export function shownUrl(text: string): string {
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}
