import type { Foundation } from '../../foundation.ts';
import { createAuthenticator } from './service.ts';
import { createSignedTokens } from './signed-tokens.ts';

export function wireIdentity(foundation: Foundation) {
  const signedTokens = createSignedTokens(foundation);
  return { signedTokens, authenticator: createAuthenticator({ ...foundation, signedTokens }) };
}
