import type { Sql } from '../../db/database.ts';
import { ALWAYS_ACCEPTED, type WorkKind, workKinds } from '../../engines/capabilities.ts';
import { UnprocessableError } from '../../lib/errors.ts';
import { readCapabilities } from './store.ts';
import type { TaskData } from './task-data.ts';

const WANTED: Record<NonNullable<TaskData['category']>, string> = {
  nsfw: '',
  hard_nudity: 'a detector of body parts in the folder of TRADEWIND_MODEL_DIR',
  soft_nudity: 'a detector of body parts in the folder of TRADEWIND_MODEL_DIR',
  sport: 'ffmpeg and the packages of the engines (npx tradewind engines install)',
};

/** Returns why a task can't be done if no engine here can do its kind; it starts once one can. */
export async function missingEngine(db: Sql, { task_name, category }: TaskData): Promise<string | undefined> {
  const kind = category ?? 'transcription';
  if (await canBeDone(db, kind)) return undefined;
  return `${category === undefined ? task_name : `${task_name}, ${category}`}: no engine for it is running now. The task waits for one; "npx tradewind doctor" tells the operator of this service more.`;
}

/** @throws UnprocessableError for what no engine can do and what must not wait for one */
export async function refuseUnavailable(db: Sql, { category }: TaskData): Promise<void> {
  if (category === undefined || ALWAYS_ACCEPTED.includes(category)) return;
  if (await canBeDone(db, category)) return;
  throw new UnprocessableError(
    `category: No engine installed here can do ${category}. It needs ${WANTED[category]}; "npx tradewind doctor" shows what is installed.`,
  );
}

async function canBeDone(db: Sql, kind: WorkKind): Promise<boolean> {
  const workers = await readCapabilities(db);
  return workers.some((capabilities) => workKinds(capabilities).includes(kind));
}
