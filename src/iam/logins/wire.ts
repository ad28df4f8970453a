import type { Foundation } from '../../foundation.ts';
import type { ClientDirectory } from '../accounts/service.ts';
import type { Authenticator, SignedTokens } from '../identity/service.ts';
import { createLoginLimits } from './limits/service.ts';
import { createPasswordCheck } from './passwords/service.ts';
import { createLogins } from './service.ts';

export function wireLogins(
  deps: Foundation & { authenticator: Authenticator; clients: ClientDirectory; signedTokens: SignedTokens },
) {
  const limits = createLoginLimits(deps.database);
  const passwords = createPasswordCheck({ ...deps, limits });
  return { limits, passwords, logins: createLogins({ ...deps, limits, passwords }) };
}
