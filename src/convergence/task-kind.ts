import type { Kind } from '../backends/contract/backend.ts';
import type { Observations } from '../backends/contract/specs.ts';
import type { Transaction } from '../db/database.ts';
import type { Wanted } from './wants.ts';

/** What a task made, by kind, as the API shows it: `{clusters: ['<id>']}`. */
export type CreatedResources = Record<string, (string | number)[]>;

/** A kind of task, as features that start one need to know it. `Input` is what its end needs to know: plain JSON. */
export interface TaskType<Input> {
  /** As the API shows it, e.g. `create_volume`. */
  readonly type: string;
  /** From acceptance to the latest possible end. */
  readonly deadlineMs: number;
  /** Never set; ties `Input` to the constant. */
  readonly input?: Input;
}

/** Returns the observation of something that the task waited for. @throws Error if the task did not wait for it */
export type Seen = <K extends Kind>(kind: K, id: string) => Observations[K];

/** How tasks of a kind end: by one of the two functions, once, in the transaction that ends the task. */
export type TaskEnd<Input = unknown> = TaskType<Input> & {
  /**
   * Runs when everything that the task waited for is as wanted. It may only want other things: a new state of
   * the same ones would overtake itself, again and again. Returns what the task made, if anything.
   */
  complete(
    tx: Transaction,
    task: { id: string },
    input: Input,
    seen: Seen,
    // biome-ignore lint/suspicious/noConfusingVoidType: most make nothing.
  ): Promise<CreatedResources | null | void>;
} & (Removal | Change<Input>);

/** The removal goes on when the task fails. `complete` runs once the thing is gone, while the task says ERROR. */
interface Removal {
  readonly removes: true;
}

interface Change<Input> {
  readonly removes?: false;
  /** What the task wanted stays wanted when it fails: its rows say so from the beginning, and are kept. */
  readonly keeps?: boolean;
  /**
   * Runs when the infrastructure refused or the deadline passed: releases locks and puts rows back. Afterwards the
   * task's wants are undone. Returns what is to be wanted instead, if that is not the former state.
   */
  abandon(
    tx: Transaction,
    task: { id: string },
    input: Input,
    reason: string,
    // biome-ignore lint/suspicious/noConfusingVoidType: most have nothing to answer.
  ): Promise<readonly Wanted[] | void>;
}

/**
 * For a kind that changes by itself: brings the thing's row in line with what is observed of it, in the transaction that
 * stores that. Called each time the thing settles, and after the task that waited for it; while a task holds the row, it
 * does nothing. Returns what is to be wanted instead. Ask `isCurrent` once the row is locked: whether nothing else is wanted
 * of the thing since. If it may not `wait`, the transaction has locked more: a row that somebody else has locked is theirs.
 */
export type Notice<K extends Kind = Kind> = (
  tx: Transaction,
  id: string,
  observed: Observations[K],
  how: { isCurrent(): Promise<boolean>; wait: boolean },
) => Promise<readonly Wanted[]>;
export type Notices = { readonly [K in Kind]?: Notice<K> };

/**
 * Declares a kind once, for features that start one and for its end. Ten minutes are plenty for work that
 * takes seconds.
 */
export const taskType = <Input>(type: string, minutes = 10): TaskType<Input> => ({
  type,
  deadlineMs: minutes * 60_000,
});
