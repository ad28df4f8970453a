/* The door of the embedded PostgreSQL: it is found on this machine, started beside the server, and reached by a socket. */
export { findBinDirs } from './binaries.ts';
export type { Templates } from './cluster.ts';
export { whyOpen } from './data-dir.ts';
export { DataDirLockedError } from './errors.ts';
export { RELAXED, startEmbeddedServer } from './server.ts';
export { runningEmbedded } from './socket.ts';
