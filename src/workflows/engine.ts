export { migrateEngine } from './dbos.ts';
export { someWorkerLives } from './heartbeat.ts';
export { type CreatedResources, TaskFailure, type TaskHandler, type TaskRun } from './task-handler.ts';
export { connectTaskQueue, type TaskQueue } from './task-queue.ts';
export { startWorker, type Worker, type WorkerOptions } from './worker.ts';
