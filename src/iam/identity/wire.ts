import type { Foundation } from '../../foundation.ts';
import { createAuthenticator } from './authenticate.ts';
import { createSignedTokens } from './signed-tokens.ts';

export function wireIdentity(foundation: Foundation) {
  const signedTokens = createSignedTokens(foundation);
  return { signedTokens, authenticator: createAuthenticator({ ...foundation, signedTokens }) };
}
