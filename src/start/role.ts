/** The role of a process: the API, work on tasks, or both. */
export type Role = 'all' | 'api' | 'worker';
