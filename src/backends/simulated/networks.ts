import type { NetworkBackend } from '../../cloud/networks/backend.ts';

const CHANGE_MS = 300;

/** Networks that carry nothing. There is nothing to remember: all that is known of them is in their rows. */
export function simulatedNetworks(speed: number): NetworkBackend {
  return {
    put: async () => ({ settlesInMs: CHANGE_MS / speed }),
    remove: async () => ({ settlesInMs: CHANGE_MS / speed }),
  };
}
