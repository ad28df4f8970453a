import type { Database } from '../../db/database.ts';
import { UnprocessableError } from '../../lib/errors.ts';
import { ALWAYS_ACCEPTED, workKinds } from './capabilities.ts';
import { readCapabilities } from './store.ts';
import type { TaskData } from './task-data.ts';

/** Whether an account may use a kind of AI task. */
export interface AiFeatures {
  allows(clientId: number, use: TaskData['task_name']): Promise<boolean>;
}

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
  sport: 'ffmpeg, and the optional packages of Tradewind (npm ci without --omit=optional)',
};

/** What keeps a task from being done, if nobody here can do its kind at all; it is taken once somebody can. */
export async function missingEngine(
  database: Database,
  { task_name, category }: TaskData,
): Promise<string | undefined> {
  const kind = category ?? task_name;
  const workers = await readCapabilities(database.sql);
  if (workers.some((capabilities) => workKinds(capabilities).some((known) => known === kind)))
    return undefined;
  return `An engine for ${kind}: none that runs here can do it. Whoever runs this service sees by "npx tradewind doctor" what to install.`;
}

/** @throws UnprocessableError for what no engine does and that is not to wait for one */
export async function refuseUnavailable(database: Database, { category }: TaskData): Promise<void> {
  if (category === undefined || ALWAYS_ACCEPTED.includes(category)) return;
  const workers = await readCapabilities(database.sql);
  if (workers.some((capabilities) => workKinds(capabilities).includes(category))) return;
  throw new UnprocessableError(
    `category: No engine installed here can do ${category}. It needs ${WANTED[category]}; "npx tradewind doctor" says what is there.`,
  );
}
