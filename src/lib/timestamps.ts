/** How the API writes times. All are UTC; each resource's schema determines which form it uses. */

/** The rule for date-times in requests. */
export const MOMENT_RULE = 'Must be a valid date-time, such as 2030-12-31T23:59:59Z.';

/**
 * `2019-06-18T11:56:16`, in UTC without an offset: tasks, `created_on` of regions. Fractions of a second are
 * cut off.
 */
export function plainSeconds(date: Date): string {
  return secondsOf(date);
}

/** `2019-06-18T11:56:16+0000`: security groups, networks, volumes, images. Fractions of a second are cut off. */
export function offsetTimestamp(date: Date): string {
  return `${secondsOf(date)}+0000`;
}

/** `2019-06-18T11:56:16Z`: clusters, instances, ports, SSH keys, projects. Fractions of a second are cut off. */
export function isoSeconds(date: Date): string {
  return `${secondsOf(date)}Z`;
}

/** `2019-06-18T11:56:16+00:00`: secrets. Fractions of a second are cut off. */
export function colonTimestamp(date: Date): string {
  return `${secondsOf(date)}+00:00`;
}

/** `2019-06-18 11:56 UTC`: mails. */
export function forPeople(date: Date): string {
  return `${secondsOf(date).slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * `2019-06-18T11:56:16.123000Z`: AI tasks, tokens, features. A Date has milliseconds, so the last three
 * digits are 0.
 */
export function isoMicros(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000Z`;
}

/** `2019-06-18T11:56:16.123000`: file shares. Clients refuse an offset there. */
export function microsWithoutZone(date: Date): string {
  return isoMicros(date).slice(0, -1);
}

// The times in one answer are mostly the same, and formatting is the most expensive part.
let lastSecond = Number.NaN;
let lastText = '';

function secondsOf(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond) {
    lastText = date.toISOString().slice(0, -5);
    lastSecond = second;
  }
  return lastText;
}
