import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientResult } from '../../scripts/compatibility/clients.ts';
import { missingOperations } from '../../scripts/compatibility/document.ts';
import type { OpenApiDocument } from '../../src/http/openapi-document.ts';
import { createCoverage } from '../support/coverage.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { documentedOperations, UNSUPPORTED } from '../support/openapi.ts';
import { createClient, type Walk } from './client/client.ts';
import { describeAccounts } from './client/families/accounts.ts';
import { describeAddresses } from './client/families/addresses.ts';
import { describeClusters } from './client/families/clusters.ts';
import { describeFileShares } from './client/families/file-shares.ts';
import { describeImages } from './client/families/images.ts';
import { describeInstances } from './client/families/instances.ts';
import { describeLoadBalancers } from './client/families/load-balancers.ts';
import { describeLogging } from './client/families/logging.ts';
import { describeNetworks } from './client/families/networks.ts';
import { describeProjects } from './client/families/projects.ts';
import { describeQuotas } from './client/families/quotas.ts';
import { describeSecrets } from './client/families/secrets.ts';
import { describeSecurityGroups } from './client/families/security-groups.ts';
import { describeTasks } from './client/families/tasks.ts';
import { describeUserActions } from './client/families/user-actions.ts';
import { describeVolumes } from './client/families/volumes.ts';
import { build, type ServeProcess, serve, temporaryFolder } from './processes.ts';

/**
 * Calls of older clients for which the official Python SDK has no method; test/clients runs the SDK itself.
 */
const TOKEN = '7_acceptance-secret';
const served = (await documentedOperations()).filter(({ prefix }) => prefix === '/gcore');
const coverage = createCoverage(served);
const dataDir = temporaryFolder();

let database: TestDatabase | undefined;
let service: ServeProcess | undefined;
let http: HttpClient;
beforeAll(async () => {
  build();
  database = await createDatabase({ empty: true });
  service = await serve({
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: dataDir,
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_SIMULATION_SPEED: '100',
  });
  http = coverage.recording(createHttpClient(service.url, TOKEN));
});
afterAll(async () => {
  await service?.end();
  await database?.drop();
  fs.rmSync(dataDir, { recursive: true, force: true });
});

let told = 0;
/** An answer that differs from its documentation fails the step that receives it. */
const request: HttpClient['request'] = async (...call) => {
  const answer = await http.request(...call);
  const fault = coverage.undocumented()[told];
  if (fault === undefined) return answer;
  told++;
  throw new Error(fault);
};
const walk: Walk = {
  client: createClient(request, `APIKey ${TOKEN}`),
  as: (token, word = 'APIKey') => createClient(request, `${word} ${token}`),
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
  describeLoadBalancers(walk);
  describeFileShares(walk);
  describeClusters(walk);
  describeSecrets(walk);
  describeQuotas(walk);
  describeLogging(walk);
  describeAccounts(walk);
  describeUserActions(walk);
  describeTasks(walk);
});

it('has called every published operation that the Python SDK does not call', () => {
  const ofSdk = new Set(clientResult('python-sdk').operations);
  const missed = new Set(coverage.missing().filter((title) => !ofSdk.has(title)));
  const called: OpenApiDocument['paths'] = {};
  for (const { title, path: url, method, operation } of served) {
    if (!missed.has(title)) called[url] = { ...called[url], [method.toLowerCase()]: operation };
  }
  const [first] = served;
  if (!first) throw new Error('Nothing is served under /gcore');
  expect(missingOperations({ ...first.document, paths: called }).toSorted()).toEqual(
    served
      .filter(({ path: at, operation }) => UNSUPPORTED.includes(operation.operationId) && !at.startsWith('/tradewind/'))
      .map(({ method, path }) => `${method} ${path}`)
      .toSorted(),
  );
});
