import type { Foundation } from '../../foundation.ts';
import type { ClientDirectory } from '../clients/directory.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import type { SignedTokens } from '../identity/signed-tokens.ts';
import { createLoginLimits } from './limits.ts';
import { createPasswordCheck } from './password-check.ts';
import { createLogins } from './service.ts';

export function wireLogins(
  deps: Foundation & { authenticator: Authenticator; clients: ClientDirectory; signedTokens: SignedTokens },
) {
  const limits = createLoginLimits(deps.database);
  const passwords = createPasswordCheck({ ...deps, limits });
  return { limits, passwords, logins: createLogins({ ...deps, limits, passwords }) };
}
