import { attempt } from './attempt.ts';

/** Reads texts from a query parameter that is a JSON object or array; undefined for anything else. */

export const MAX_QUERY_JSON = 8_192;

export function textObject(json: string): Record<string, string> | undefined {
  const value = parsed(json);
  const sound =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).flat().every(isText);
  return sound ? (value as Record<string, string>) : undefined;
}

export function textArray(json: string): string[] | undefined {
  const value = parsed(json);
  return Array.isArray(value) && value.every(isText) ? value : undefined;
}

function parsed(json: string): unknown {
  return attempt(() => JSON.parse(json));
}

/** A text that the database can hold. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}
