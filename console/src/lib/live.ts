import { queries } from './api.ts';
import { onEvents, session } from './hub.ts';

/** Many events at once are answered by one look. */
const TOGETHER_MS = 300;

/** Reads again what a page shows once something has changed, and forgets everything when somebody else signs in. */
export function followChanges(): void {
  let due: ReturnType<typeof setTimeout> | undefined;
  const readAgain = () => {
    if (due !== undefined) return;
    due = setTimeout(() => {
      due = undefined;
      void readAllAgain();
    }, TOGETHER_MS);
  };
  onEvents(readAgain, readAgain);
  let whose: number | undefined;
  session.subscribe(() => {
    const now = session.get()?.who;
    if (now?.clientId === whose) return;
    whose = now?.clientId;
    queries.clear();
  });
}

/** What is being read for the first time isn't begun again, and may have been answered before the change: it is read once more. */
async function readAllAgain(): Promise<void> {
  const first = new Set(
    queries.getQueryCache().findAll({ fetchStatus: 'fetching', predicate: ({ state }) => state.data === undefined }),
  );
  await queries.invalidateQueries();
  if (first.size > 0) await queries.invalidateQueries({ predicate: (query) => first.has(query) });
}
