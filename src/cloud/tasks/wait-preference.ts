/** The longest that one answer is held. Clients that want more ask again. */
const MOST_SECONDS = 60;

// Preferences are separated by commas, their parameters by semicolons; of two waits the first counts (RFC 7240, section 2).
const WAIT = /(?:^|,)\s*wait\s*=\s*(?:"(\d{1,9})"|(\d{1,9}))\s*(?:[,;]|$)/i;

/** Seconds to wait, as the header `Prefer` asks; undefined when it doesn't, or not in a way that can be understood. */
export function waitPreference(prefer: string | undefined): number | undefined {
  const [, quoted, plain] = (prefer === undefined ? null : WAIT.exec(prefer)) ?? [];
  const seconds = quoted ?? plain;
  return seconds === undefined ? undefined : Math.min(Number(seconds), MOST_SECONDS);
}
