import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingOperations } from '../../scripts/compatibility/document.ts';
import type { OpenApiDocument } from '../../src/http/openapi-document.ts';
import { createCoverage } from '../support/coverage.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { documentedOperations, UNSUPPORTED } from '../support/openapi.ts';
import { createClient } from './client/client.ts';
import { describeAccounts } from './client/families/accounts.ts';
import { describeAddresses } from './client/families/addresses.ts';
import { describeAiTasks } from './client/families/ai-tasks.ts';
import { describeClusters } from './client/families/clusters.ts';
import { describeFileShares } from './client/families/file-shares.ts';
import { describeImages } from './client/families/images.ts';
import { describeInstances } from './client/families/instances.ts';
import { describeLogging } from './client/families/logging.ts';
import { describeNetworks } from './client/families/networks.ts';
import { describeProjects } from './client/families/projects.ts';
import { describeRepeats } from './client/families/repeats.ts';
import { describeSecurityGroups } from './client/families/security-groups.ts';
import { describeTasks } from './client/families/tasks.ts';
import { describeUserActions } from './client/families/user-actions.ts';
import { describeVolumes } from './client/families/volumes.ts';
import type { Walk } from './client/walk.ts';
import { build, type ServeProcess, serve, temporaryFolder } from './processes.ts';

/** A client that behaves as official clients do uses every family of the published contract, from an empty database. */
const TOKEN = '7_acceptance-secret';
const served = (await documentedOperations()).filter(({ prefix }) => prefix === '/gcore');
const coverage = createCoverage(served);
const dataDir = path.join(temporaryFolder(), 'data');

let service: ServeProcess | undefined;
let http: HttpClient;
beforeAll(async () => {
  build();
  service = await serve({
    TRADEWIND_DATA_DIR: dataDir,
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_SIMULATION_SPEED: '100',
  });
  http = coverage.recording(createHttpClient(service.url, TOKEN));
}, 120_000);
afterAll(async () => {
  await service?.end();
  fs.rmSync(path.dirname(dataDir), { recursive: true, force: true });
});

let told = 0;
/** An answer that differs from its documentation fails the step that gets it. */
const request: HttpClient['request'] = async (...call) => {
  const answer = await http.request(...call);
  const fault = coverage.undocumented()[told];
  if (fault === undefined) return answer;
  told++;
  throw new Error(fault);
};
const walk: Walk = {
  client: createClient(request, { authorization: `APIKey ${TOKEN}` }),
  impatient: createClient(request, { authorization: `APIKey ${TOKEN}`, retries: 0 }),
  as: (token, word = 'APIKey') => createClient(request, { authorization: `${word} ${token}` }),
  place: (area) => `${area}/1/1`,
};

describe('a client walks through', () => {
  describeProjects(walk);
  describeNetworks(walk);
  describeSecurityGroups(walk);
  describeVolumes(walk);
  describeImages(walk);
  describeInstances(walk);
  describeAddresses(walk);
  describeFileShares(walk);
  describeClusters(walk);
  describeLogging(walk);
  describeAiTasks(walk);
  describeAccounts(walk);
  describeUserActions(walk);
  describeRepeats(walk);
  describeTasks(walk);
});

it('has called every published operation', () => {
  const missed = new Set(coverage.missing());
  const called: OpenApiDocument['paths'] = {};
  for (const { title, path: url, method, operation } of served) {
    if (!missed.has(title)) called[url] = { ...called[url], [method.toLowerCase()]: operation };
  }
  const [first] = served;
  if (!first) throw new Error('Nothing is served under /gcore');
  expect(missingOperations({ ...first.document, paths: called }).toSorted()).toEqual(
    served
      .filter(({ operation }) => UNSUPPORTED.includes(operation.operationId))
      .map(({ method, path }) => `${method} ${path}`)
      .toSorted(),
  );
});
