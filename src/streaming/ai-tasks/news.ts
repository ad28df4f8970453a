import { announce, type ChangeFeed } from '../../db/changes.ts';
import type { Transaction } from '../../db/database.ts';

/** What API and workers tell each other, in whichever process they are. */
const WAITING = 'ai-task-waiting';
const CANCELLED = 'ai-task-cancelled';

/** There may be something to take: a task came, or another one's place is free. */
export const announceWaiting = (tx: Transaction, taskId: string) => announce(tx.client, WAITING, taskId);
export const announceCancelled = (tx: Transaction, taskId: string) => announce(tx.client, CANCELLED, taskId);

/** `missed` is called when news may have been lost. */
export function hearNews(
  changes: ChangeFeed,
  hear: { waiting: () => void; cancelled: (taskId: string) => void; missed: () => void },
): void {
  changes.on(WAITING, hear.waiting, hear.missed);
  changes.on(CANCELLED, hear.cancelled, () => {});
}
