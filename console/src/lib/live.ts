import { identityOf } from '../worker/messages.ts';
import { ApiError, queries } from './api.ts';
import { live, onEvents, session } from './hub.ts';

/** Many events at once are answered by one look. */
const TOGETHER_MS = 300;

/** Reads again what a page shows once something has changed, and forgets everything when somebody else signs in, who begins at the start. */
export function followChanges(beginAgain: () => void): void {
  let changed = false;
  let reading = false;
  // One round after the other: a round that begins would end what the one before has asked for.
  const readAgain = async () => {
    changed = true;
    if (reading) return;
    reading = true;
    while (changed) {
      await new Promise((resolve) => setTimeout(resolve, TOGETHER_MS));
      changed = false;
      await readAllAgain();
    }
    reading = false;
  };
  onEvents(
    () => void readAgain(),
    () => void readAgain(),
  );
  // What couldn't be read while the server was away.
  live.subscribe(() => {
    if (live.get() === 'connecting' || live.get() === 'off') return;
    void queries.refetchQueries({
      type: 'active',
      predicate: ({ state: { error } }) => error !== null && !(error instanceof ApiError && error.status < 500),
    });
  });
  let whose: string | undefined;
  session.subscribe(() => {
    const now = identityOf(session.get());
    if (now === whose) return;
    queries.clear();
    if (now === undefined) return;
    if (whose !== undefined) beginAgain();
    whose = now;
  });
}

/** What is being read already isn't begun again, and may have been answered before the change: it is read once more. */
async function readAllAgain(): Promise<void> {
  // Nobody shows these yet: who does will ask again.
  await queries.cancelQueries({ type: 'inactive', fetchStatus: 'fetching' });
  const before = new Set(queries.getQueryCache().findAll({ fetchStatus: 'fetching' }));
  await queries.invalidateQueries(undefined, { cancelRefetch: false });
  if (before.size > 0) await queries.invalidateQueries({ predicate: (query) => before.has(query) });
}
