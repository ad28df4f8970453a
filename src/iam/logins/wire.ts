import type { Foundation } from '../../foundation.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { Authenticator, SignedTokens } from '../identity/service.ts';
import { createGuesses } from './guesses/service.ts';
import { createPasswordCheck } from './passwords/service.ts';
import { createLogins } from './service.ts';

export function wireLogins(
  deps: Foundation & {
    authenticator: Authenticator;
    signedTokens: SignedTokens;
    mailer: Mailer;
  },
) {
  const guesses = createGuesses(deps.database);
  const passwords = createPasswordCheck({ ...deps, guesses });
  return { guesses, passwords, logins: createLogins({ ...deps, guesses, passwords }) };
}
