import { createHash } from 'node:crypto';
import type { FileShareBackend } from '../../cloud/file-shares/backend.ts';

const CREATION_MS = 500;
const CHANGE_MS = 200;
const DELETION_MS = 300;

/**
 * File shares that hold no files. There is nothing to remember: what a share is reached by follows from its id.
 * The addresses are of 198.18.0.0/15, which RFC 2544 keeps for tests, so that nothing real is ever mounted.
 */
export function simulatedFileShares(speed: number): FileShareBackend {
  return {
    create: async ({ id }) => ({
      connectionPoint: `${addressOf(id)}:/shares/${id}`,
      settlesInMs: CREATION_MS / speed,
    }),
    change: async () => ({ settlesInMs: CHANGE_MS / speed }),
    delete: async () => ({ settlesInMs: DELETION_MS / speed }),
  };
}

function addressOf(id: string): string {
  const [second = 0, third = 0, fourth = 0] = createHash('sha256').update(id).digest();
  return `198.${18 + (second % 2)}.${third}.${1 + (fourth % 254)}`;
}
