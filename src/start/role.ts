/** What a process does: the API, work on tasks, or both. */
export type Role = 'all' | 'api' | 'worker';
