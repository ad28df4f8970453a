import type { Foundation } from '../../foundation.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { Authenticator } from '../identity/service.ts';
import type { Guesses } from '../logins/guesses/service.ts';
import type { PasswordCheck } from '../logins/passwords/service.ts';
import { createInvitations } from './invitations.ts';
import { createMembers } from './members.ts';
import { createSellers } from './sellers/service.ts';
import { createUsers } from './service.ts';

export function wireUsers(
  deps: Foundation & {
    authenticator: Authenticator;
    guesses: Guesses;
    passwords: PasswordCheck;
    mailer: Mailer;
  },
) {
  const members = createMembers(deps);
  const users = createUsers({ ...deps, members });
  return {
    members,
    users,
    sellers: createSellers({ ...deps, users }),
    invitations: createInvitations({ ...deps, members }),
  };
}
