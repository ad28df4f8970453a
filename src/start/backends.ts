import { type Backends, onlyBackend } from '../backends/backends.ts';
import { createSimulatedBackend } from '../backends/simulated/backend.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';

export function simulatedBackends(database: Database, { simulationSpeed: speed }: Config): Backends {
  return onlyBackend(createSimulatedBackend({ sql: database.sql, speed }));
}
