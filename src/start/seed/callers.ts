import { randomUUID } from 'node:crypto';
import type { Authenticator } from '../../iam/identity/service.ts';
import type { Principal } from '../../requests/principal.ts';

/** Callers that only this process knows, while it applies the seed. No token is made for them. */
export interface SeedCallers {
  /** Returns the `Authorization` header of a caller. */
  headerOf(principal: Principal): string;
  authenticator: Authenticator;
  /** Ends all of them. */
  end(): void;
}

export function createSeedCallers(authenticator: Authenticator): SeedCallers {
  const known = new Map<string, Principal>();
  return {
    headerOf(principal) {
      const header = `seed ${randomUUID()}`;
      known.set(header, principal);
      return header;
    },
    authenticator: {
      ...authenticator,
      async authenticate(offered, admit, within) {
        const caller = known.size > 0 && known.get(offered.authorization ?? '');
        return caller || authenticator.authenticate(offered, admit, within);
      },
    },
    end: () => known.clear(),
  };
}
