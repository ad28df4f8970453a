import { attempt } from './attempt.ts';
import { InvalidError } from './errors.ts';

/** Returns a token for the page after this place. Clients must not read it. */
export const pageToken = (place: string | number | readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/** Returns the place of a token; undefined without one. @throws InvalidError */
export function placeOf<Place>(
  token: string | undefined,
  isPlace: (place: unknown) => place is Place,
): Place | undefined {
  if (token === undefined) return undefined;
  const place: unknown = attempt(() => JSON.parse(Buffer.from(token, 'base64url').toString()));
  if (isPlace(place)) return place;
  throw new InvalidError({ page_token: ['Must be next_page_token of an earlier answer.'] });
}

/** Whether a place is a time, in milliseconds, and an ID. Bounded, so that a database can read the time. */
export const isTimeAndId = (place: unknown): place is [time: number, id: number] =>
  Array.isArray(place) &&
  place.length === 2 &&
  place.every((one) => Number.isSafeInteger(one) && one >= 0 && one < 1e14);
