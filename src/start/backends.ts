import { type Backends, onlyBackend } from '../backends/backends.ts';
import { createFaults } from '../backends/simulated/faults.ts';
import { createFaultyBackend } from '../backends/simulated/faulty-backend.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';

export function simulatedBackends(database: Database, { simulationSpeed: speed }: Config): Backends {
  return onlyBackend(createFaultyBackend({ sql: database.sql, speed, faults: createFaults() }));
}
