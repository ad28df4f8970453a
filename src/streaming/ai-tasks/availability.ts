import type { Database } from '../../db/database.ts';
import type { Features } from '../../iam/features/service.ts';
import { UnprocessableError } from '../../lib/errors.ts';
import { ALWAYS_ACCEPTED, type WorkKind, workKinds } from './capabilities.ts';
import { readCapabilities } from './store.ts';
import type { TaskData } from './task-data.ts';

/** Whether an account may use a kind of AI task. */
export type AiFeatures = Pick<Features, 'allows'>;

/** @throws UnprocessableError */
export async function requireFeature(
  features: AiFeatures,
  clientId: number,
  use: TaskData['task_name'],
): Promise<void> {
  if (await features.allows(clientId, use)) return;
  const name = { transcription: 'Transcription', 'content-moderation': 'Content moderation' }[use];
  throw new UnprocessableError(
    `${name} is a feature that this account does not have; ask the reseller to activate it`,
  );
}

const WANTED: Record<NonNullable<TaskData['category']>, string> = {
  nsfw: '',
  hard_nudity: 'a detector of body parts in the folder of TRADEWIND_MODEL_DIR',
  soft_nudity: 'a detector of body parts in the folder of TRADEWIND_MODEL_DIR',
  sport: 'ffmpeg and the packages of the engines (npx tradewind engines install)',
};

/** Returns why a task can't be done if no engine here can do its kind; it starts once one can. */
export async function missingEngine(
  database: Database,
  { task_name, category }: TaskData,
): Promise<string | undefined> {
  const kind = category ?? 'transcription';
  if (await canBeDone(database, kind)) return undefined;
  return `${category === undefined ? task_name : `${task_name}, ${category}`}: no engine for it is running now. The task waits for one; "npx tradewind doctor" tells the operator of this service more.`;
}

/** @throws UnprocessableError for what no engine can do and what must not wait for one */
export async function refuseUnavailable(database: Database, { category }: TaskData): Promise<void> {
  if (category === undefined || ALWAYS_ACCEPTED.includes(category)) return;
  if (await canBeDone(database, category)) return;
  throw new UnprocessableError(
    `category: No engine installed here can do ${category}. It needs ${WANTED[category]}; "npx tradewind doctor" shows what is installed.`,
  );
}

async function canBeDone(database: Database, kind: WorkKind): Promise<boolean> {
  const workers = await readCapabilities(database.sql);
  return workers.some((capabilities) => workKinds(capabilities).includes(kind));
}
