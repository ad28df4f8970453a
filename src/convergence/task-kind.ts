import type { Kind } from '../backends/contract/backend.ts';
import type { Observations } from '../backends/contract/specs.ts';
import type { Transaction } from '../db/database.ts';
import type { Wanted } from './wants.ts';

/** What a task made, by kind, as its readers see it: `{clusters: ['<id>']}`. */
export type CreatedResources = Record<string, (string | number)[]>;

/** A kind of task, as those who start one need to know it. `Input` is what its end needs to know: plain JSON. */
export interface TaskType<Input> {
  /** As readers of the task see it, e.g. `create_volume`. */
  readonly type: string;
  /** From acceptance to the latest end. */
  readonly deadlineMs: number;
  /** Never there; ties `Input` to the constant. */
  readonly input?: Input;
}

/** What was seen of something that the task waited for, once it was as wanted. @throws Error where it waited for none such */
export type Seen = <K extends Kind>(kind: K, id: string) => Observations[K];

/** How tasks of a kind end: by one of the two, once, in the transaction that ends the task. */
export type TaskEnd<Input = unknown> = TaskType<Input> & {
  /**
   * Everything that the task waited for is as wanted. What this wants in turn has to be of other things: another state of
   * the same ones would be overtaken by itself, again and again.
   */
  complete(tx: Transaction, task: { id: string }, input: Input, seen: Seen): Promise<CreatedResources | null>;
} & (Removal | Change<Input>);

/** What must go goes on going when the task fails, and `complete` comes when it has gone, while the task says ERROR. */
interface Removal {
  readonly removes: true;
}

interface Change<Input> {
  readonly removes?: false;
  /** What the task wanted is wanted all the same when it fails: its rows say so from the beginning, and stay. */
  readonly keeps?: boolean;
  /**
   * The infrastructure refused, or the deadline passed: release locks, put rows back. What the task wanted is taken back
   * after it; answers what is to be wanted then, where that isn't what was before.
   */
  abandon(
    tx: Transaction,
    task: { id: string },
    input: Input,
    reason: string,
    // biome-ignore lint/suspicious/noConfusingVoidType: most have nothing to answer.
  ): Promise<readonly Wanted[] | void>;
}

/** Declares a kind once, for those who start one and for its end. Ten minutes are plenty for what takes seconds. */
export const taskType = <Input>(type: string, minutes = 10): TaskType<Input> => ({
  type,
  deadlineMs: minutes * 60_000,
});
