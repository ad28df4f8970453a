import { type TUnsafe, Type } from 'typebox';

/**
 * The differences between the two base addresses: `/` follows the specification, `/gcore` the contract that
 * the official clients were written against. Only the registration of routes takes a dialect.
 */
export interface Dialect {
  readonly name: 'specification' | 'client';
  readonly prefix: '' | '/gcore';
  /**
   * Whether it accepts and shows what is marked `LEGACY`, for older clients of the published contract, and takes their
   * empty query parameters as absent.
   */
  readonly legacy: boolean;
  /** Whether fields of accounts are null if there is no text or number for them. */
  readonly nulls: boolean;
  /** Whether bodies may have fields that nobody knows, unless the contract closes them. */
  readonly openBodies: boolean;
  /** Whether an update that changes nothing names a task that has finished, as official clients wait for one. */
  readonly taskAnyway: boolean;
  /** Returns the answer that names the tasks of an asynchronous operation. What changes nothing has none: undefined. */
  tasks(ids: (string | undefined)[]): string[] | { tasks: string[] };
  readonly tasksSchema: TUnsafe<string[] | { tasks: string[] }>;
  /** Returns the group that a rule names as its remote end. */
  remoteGroup(id: string | null): string[] | string | null;
}

const taskIds = Type.Array(Type.String({ format: 'uuid' }), {
  description: 'IDs of the tasks that make the change; empty when nothing has to change.',
});

const started = (ids: readonly (string | undefined)[]) => ids.filter((id) => id !== undefined);

export const specificationDialect: Dialect = {
  name: 'specification',
  prefix: '',
  legacy: false,
  nulls: true,
  openBodies: false,
  taskAnyway: false,
  tasks: started,
  tasksSchema: Type.Unsafe(taskIds),
  remoteGroup: (id) => (id === null ? [] : [id]),
};

export const clientDialect: Dialect = {
  name: 'client',
  prefix: '/gcore',
  legacy: true,
  nulls: false,
  openBodies: true,
  taskAnyway: true,
  tasks: (ids) => ({ tasks: started(ids) }),
  tasksSchema: Type.Unsafe(Type.Object({ tasks: taskIds }, { title: 'TaskIds' })),
  remoteGroup: (id) => id,
};

/** Returns a path without the prefix of its base address. */
export function withoutPrefix(path: string): string {
  const { prefix } = clientDialect;
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}

export const dialects: readonly Dialect[] = [specificationDialect, clientDialect];

/** The areas of the API. Each has its own form of error bodies. */
export type Area = 'cloud' | 'logging' | 'streaming' | 'iam' | 'tradewind';

/** Where the kit for testers is, if the server has one. */
export const TEST_KIT = '/tradewind/v1/test';

/** Returns the area of a request path, under either base address. Unknown paths count as cloud. */
export function areaOf(url: string): Area {
  const path = withoutPrefix(url);
  if (path.startsWith('/iam/')) return 'iam';
  if (path.startsWith('/streaming/')) return 'streaming';
  if (path.startsWith('/tradewind/')) return 'tradewind';
  return path.startsWith('/cloud/v1/laas/') ? 'logging' : 'cloud';
}
