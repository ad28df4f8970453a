/** An address as it may stand in a log: queries and user names are where secrets are. */
export function shownUrl(text: string): string {
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}
