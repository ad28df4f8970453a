import { type TUnsafe, Type } from 'typebox';

/**
 * What differs between the two base addresses: `/` speaks the specification, `/gcore` the contract that the
 * official clients were written against. Routes take a dialect when they are registered; nothing else does.
 */
export interface Dialect {
  readonly name: 'specification' | 'client';
  readonly prefix: '' | '/gcore';
  /** Whether it takes and shows what `LEGACY` marks, for older clients of the published contract. */
  readonly legacy: boolean;
  /** Whether null stands for texts and numbers of accounts that there are none of. */
  readonly nulls: boolean;
  /** The answer that names the tasks which an asynchronous operation started. */
  tasks(ids: string[]): string[] | { tasks: string[] };
  readonly tasksSchema: TUnsafe<string[] | { tasks: string[] }>;
  /** The group that a rule names as its remote end. */
  remoteGroup(id: string | null): string[] | string | null;
}

const taskIds = Type.Array(Type.String({ format: 'uuid' }), {
  description: 'IDs of the tasks that carry the change out; empty when nothing has to change.',
});

export const specificationDialect: Dialect = {
  name: 'specification',
  prefix: '',
  legacy: false,
  nulls: true,
  tasks: (ids) => ids,
  tasksSchema: Type.Unsafe(taskIds),
  remoteGroup: (id) => (id === null ? [] : [id]),
};

export const clientDialect: Dialect = {
  name: 'client',
  prefix: '/gcore',
  legacy: true,
  nulls: false,
  tasks: (ids) => ({ tasks: ids }),
  tasksSchema: Type.Unsafe(Type.Object({ tasks: taskIds }, { title: 'TaskIds' })),
  remoteGroup: (id) => id,
};

/** A path as it is under every base address. */
export function withoutPrefix(path: string): string {
  const { prefix } = clientDialect;
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}

export const dialects: readonly Dialect[] = [specificationDialect, clientDialect];
