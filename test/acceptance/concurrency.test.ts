import { manyClients } from './concurrency/many-clients.ts';

// Long enough for what collides often. What is rare comes in concurrency.slow.test.ts.
await manyClients({ seconds: 8, untilAllCame: false });
