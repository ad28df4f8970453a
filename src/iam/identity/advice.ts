import { parseTokenText } from './schema.ts';

/** Request headers that may contain credentials. */
export interface Offered {
  authorization?: string | undefined;
  'x-api-key'?: unknown;
}

const FORM =
  'Send the header "Authorization: apikey <id>_<secret>" with an API token, or "Authorization: Bearer <access token>" with the access token of a login';
const NEW_TOKEN =
  'create a new one with POST /iam/v2/clients/{client_id}/tokens or, on the server, "tradewind token create"';

/** Returns what to do about credentials that can't be parsed. It never repeats a part of a secret. */
export function adviceOn(offered: Offered): string {
  const { authorization: given } = offered;
  if (!given)
    return offered['x-api-key'] === undefined ? `${FORM}.` : `The header X-Api-Key is ignored. ${FORM}.`;
  const [first = '', second, ...more] = given.trim().split(/\s+/, 3);
  if (second === undefined) return wordless(first);
  if (more.length > 0)
    return `The header takes one word, one space and the token, and nothing else. ${FORM}.`;
  switch (first.toLowerCase()) {
    case 'bearer':
      return parseTokenText(second)
        ? 'This is an API token: write the word apikey before it instead of Bearer.'
        : `Bearer takes the access token of a login. ${FORM}.`;
    case 'apikey':
      if (isSignedToken(second)) return 'This is the token of a login: write the word Bearer before it.';
      if (parseTokenText(second))
        return 'Put one space between the word and the token, and none before or after them.';
      return 'An API token is its id, an underscore and its secret: <id>_<secret>. Send it whole, as it was shown when it was made.';
    default:
      return `The word before the token must be apikey or Bearer. ${FORM}.`;
  }
}

/** Handles a token, or what may be one, without the scheme word before it. */
function wordless(text: string): string {
  if (parseTokenText(text)) return 'Write the word apikey and one space before the token.';
  if (isSignedToken(text)) return 'Write the word Bearer and one space before the access token.';
  return `${FORM}.`;
}

function isSignedToken(text: string): boolean {
  return text.split('.', 4).length === 3;
}

export const UNKNOWN_TOKEN = `No API token has this id and secret; it may have been deleted. Otherwise ${NEW_TOKEN}.`;
export const EXPIRED_TOKEN = `This API token has expired; ${NEW_TOKEN}.`;
export const ENDED_LOGIN =
  'This login has ended; get a new pair of tokens from POST /iam/auth/jwt/refresh or log in again.';

/** Why a valid API token or login is refused. */
export const SHUT_OUT = {
  paused:
    'The account is suspended; its reseller can resume it, and so can the operator of the platform with "tradewind client resume".',
  blocked: 'The user is blocked in this account; one of its administrators can let them in again.',
  deleted: UNKNOWN_TOKEN,
} as const;
