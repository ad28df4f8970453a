import { manyClients } from './concurrency/many-clients.ts';

/**
 * To run it longer or again:
 * `CONCURRENCY_SECONDS=600 CONCURRENCY_SEED=7 CONCURRENCY_CLIENTS=50 npx vitest run test/acceptance/concurrency.slow.test.ts`.
 */
manyClients({ seconds: Number(process.env.CONCURRENCY_SECONDS ?? 10), untilAllCame: true });
