/** Returns an address that is safe to log: without query and user name, which may contain secrets. */
export function shownUrl(text: string): string {
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}
