export const STATES = ['NEW', 'RUNNING', 'FINISHED', 'ERROR'] as const;
export type TaskState = (typeof STATES)[number];

export const ACTIVE: readonly TaskState[] = ['NEW', 'RUNNING'];
export const ENDED: readonly TaskState[] = ['FINISHED', 'ERROR'];
