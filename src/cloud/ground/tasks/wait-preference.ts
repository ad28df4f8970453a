/** The longest delay of one answer. Clients that want to wait longer ask again. */
const MOST_SECONDS = 60;

// Commas separate preferences and semicolons their parameters. The first of two waits counts (RFC 7240, section 2).
const WAIT = /(?:^|,)\s*wait\s*=\s*(?:"(\d{1,9})"|(\d{1,9}))\s*(?:[,;]|$)/i;

/** Returns the seconds that the header `Prefer` asks to wait; undefined if it doesn't or can't be understood. */
export function waitPreference(prefer: string | undefined): number | undefined {
  const [, quoted, plain] = (prefer === undefined ? null : WAIT.exec(prefer)) ?? [];
  const seconds = quoted ?? plain;
  return seconds === undefined ? undefined : Math.min(Number(seconds), MOST_SECONDS);
}
