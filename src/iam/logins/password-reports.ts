import pLimit from 'p-limit';
import { UnavailableError } from '../../lib/errors.ts';

const AT_ONCE = 2;
const MOST_WAITING = 1_000;

/** Reports of forgotten passwords. Each is answered before the work begins, so the answer can't reveal who has an account. */
export interface PasswordReports {
  /** @throws UnavailableError if too many wait */
  requireRoom(): void;
  begin(work: () => Promise<void>): void;
  /** Resolves once those that have begun have ended. */
  end(): Promise<void>;
}

export function createPasswordReports(): PasswordReports {
  const limit = pLimit(AT_ONCE);
  const going = new Set<Promise<void>>();
  return {
    requireRoom() {
      if (limit.pendingCount < MOST_WAITING) return;
      throw new UnavailableError('Too many forgotten passwords are being reported at the moment; try again');
    },
    begin(work) {
      const report = limit(work).finally(() => going.delete(report));
      going.add(report);
    },
    async end() {
      await Promise.all(going);
    },
  };
}
