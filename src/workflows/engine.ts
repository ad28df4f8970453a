export { migrateEngine } from './dbos.ts';
export { someWorkerLives } from './heartbeat.ts';
export { TaskFailure, type TaskHandler } from './task-handler.ts';
export { connectTaskQueue, type TaskQueue } from './task-queue.ts';
export { startWorker, type Worker } from './worker.ts';
