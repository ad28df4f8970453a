import type { TaskState } from './tables.ts';

export const ACTIVE: readonly TaskState[] = ['NEW', 'RUNNING'];
export const ENDED: readonly TaskState[] = ['FINISHED', 'ERROR'];
