import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import * as schema from './schema.ts';
import * as platform from './service.ts';

const BASE = '/tradewind/v1/platform';
const config = { platformDuty: platform.PLATFORM_DUTY } as const;

export function platformRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Platform'], access: 'resell' });

  api.get(`${BASE}/processes`, 'listPlatformProcesses', 'List the processes that are alive', {
    ...config,
    description:
      'All that work on the database, by the signs of life that they give every few seconds. One that ends without a word is listed for ten seconds more. Only workers say what they do and since when, and whether a worker serves the API as well is not recorded. Only for the platform administrator.',
    answer: schema.PlatformProcesses,
    handler: ({ principal }) => platform.listProcesses(on, principal),
  });

  api.get(`${BASE}/queues`, 'listPlatformQueues', 'See how much work waits', {
    ...config,
    description:
      'Of all accounts: tasks, and the queues that workers take their work from. A task is done by changes of infrastructure or by a deletion, which are counted there again. Mails and deliveries are counted up to 100,000. Only for the platform administrator.',
    answer: schema.PlatformQueues,
    handler: ({ principal }) => platform.listQueues(on, principal),
  });

  api.get(`${BASE}/backlog`, 'listPlatformBacklog', 'See what waits, by region and backend', {
    ...config,
    description:
      'Infrastructure that is not yet as wanted: what waits, what a worker has in hand, and what fails again and again, of all accounts. Only for the platform administrator.',
    answer: schema.PlatformBacklog,
    handler: ({ principal }) => platform.listBacklog(on, principal),
  });

  api.get(`${BASE}/checks`, 'listPlatformChecks', 'Check what is installed and what is missing', {
    ...config,
    description:
      'What `tradewind doctor` says, of the process that answers: others may have other settings or run on other machines. What gives no answer within 20 seconds says so. Only for the platform administrator.',
    answer: schema.PlatformChecks,
    handler: ({ principal }) => platform.listChecks(on, principal),
  });

  api.get(`${BASE}/orphans`, 'listOrphans', 'List infrastructure that nobody wants', {
    ...config,
    description:
      'What `tradewind orphans list` shows: what backends have and nothing in the database refers to. `tradewind orphans remove` removes it. Only for the platform administrator.',
    answer: schema.Orphans,
    handler: ({ principal }) => platform.listOrphans(on, principal),
  });
}
