import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClientResult } from '../../scripts/compatibility/clients.ts';
import { pythonClients } from '../../scripts/test-programs.ts';
import { record } from '../support/clients.ts';
import { finishAiTask } from '../support/finished-ai-tasks.ts';
import { anyEmail, comes } from '../support/logins.ts';
import { type DocumentedOperation, documentedOperations } from '../support/openapi.ts';
import { createPossessions, type Possessions } from '../support/possessions.ts';
import { startService, type TestService } from '../support/service.ts';
import { EXCEPTIONS } from './schemathesis/exceptions.ts';

/**
 * Schemathesis makes valid and invalid requests from each OpenAPI document, and compares the answers with it.
 */
const PREFIXES = ['', '/gcore'];
const SETTINGS = path.join(import.meta.dirname, 'schemathesis');
/**
 * One in so many operations gets more than the examples of its document: phases of thousands of requests. Use
 * 1 for a release.
 */
const USUAL_SHARE = 8;
const SHARE = Number(process.env.SCHEMATHESIS_SHARE ?? USUAL_SHARE);
const { installed, folder } = pythonClients();
if (!installed) {
  process.stderr.write('SKIPPED, for want of schemathesis: "npm run install:tests" installs it\n');
}

interface Run {
  prefix: string;
  said: string;
  /** What schemathesis reports. */
  report: {
    schemathesis_version: string;
    complete: boolean;
    operations: { total: number; tested: number };
    test_cases: { generated: number };
    errors: unknown[];
    baseline: { new: number; known_ids: string[] };
  };
}

const exceptions = EXCEPTIONS.flatMap(({ operations, reason, byChance, ...failure }) =>
  operations.map((operation) => ({ ...failure, operation })),
);

let output: string;
let service: TestService;
/** Real things that bodies name, by operation and field: tables are only for paths. */
let named: Record<string, Record<string, unknown>>;
const runs = new Map<string, Promise<Run>>();

describe.skipIf(!installed)('schemathesis', () => {
  beforeAll(async () => {
    output = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-schemathesis-'));
    service = await startService({ TRADEWIND_RATE_LIMIT: '0' });
    const operations = await documentedOperations();
    const possessions = createPossessions(service.http);
    await possessions.makeFor(operations);
    await finishAiTask(service.pool, String(possessions.values.transcribed_task_id));
    named = await namedInBodies(possessions);
    for (const prefix of PREFIXES) {
      runs.set(prefix, run(prefix, await tables(prefix, operations, possessions)));
    }
  });
  afterAll(async () => {
    await service?.stop();
    fs.rmSync(output, { recursive: true, force: true });
  });

  it.each(PREFIXES)('finds no fault in %s/openapi.json', { timeout: 1_200_000 }, async (prefix) => {
    const { report, said } = (await runs.get(prefix)) as Run;
    const { complete, errors, operations } = report;
    expect({ complete, errors, failures: report.baseline.new }, said).toEqual({
      complete: true,
      errors: [],
      failures: 0,
    });
    expect(operations.tested).toBe(operations.total);
  });

  it('makes no exception that is none', { timeout: 1_200_000 }, async () => {
    const done = await Promise.all(runs.values());
    const met = new Set(done.flatMap(({ report }) => report.baseline.known_ids));
    // The results of the others depend on the few requests that they get.
    const chance = new Set(EXCEPTIONS.flatMap(({ byChance, operations }) => (byChance ? operations : [])));
    const sure = exceptions.filter(({ operation }) => isCovered(operation) && !chance.has(operation));
    expect(sure.filter((each) => !met.has(idOf(each))).map(({ operation }) => operation)).toEqual([]);
    if (SHARE === USUAL_SHARE) record('schemathesis', resultOf(done));
  });
});

/** The same in each run: adding an operation changes nothing for others. */
const numberOf = (operation: string) => createHash('sha256').update(operation).digest().readUInt32BE();
const isCovered = (operation: string) => numberOf(operation) % SHARE === 0;

/** An operation does the same under both base addresses, so that its usual share is asked for under one of them. */
function homeOf(operation: string, operations: DocumentedOperation[]): string | undefined {
  const prefixes = operations.filter((each) => nameOf(each) === operation).map(({ prefix }) => prefix);
  return prefixes[Math.floor(numberOf(operation) / SHARE) % prefixes.length];
}

/** Returns schemathesis's own name of a known failure. */
function idOf({ operation, check, failure, signature }: (typeof exceptions)[number]): string {
  const identity = [operation, check, failure, signature].join('\0');
  return createHash('sha256').update(identity).digest('hex').slice(0, 6);
}

/**
 * Provides a real value for each path parameter, so that not everything is 404; what is deleted is needed by
 * nothing else. A table for each operation would be simpler, but schemathesis looks through all of them for
 * every request.
 */
async function tables(prefix: string, operations: DocumentedOperation[], possessions: Possessions): Promise<string> {
  const served = operations.filter((each) => each.prefix === prefix);
  const usual = possessions.values;
  const made = ['[parameters]', ...Object.entries(usual).map(([name, value]) => pair(name, value))];
  const uncovered = served
    .map(nameOf)
    .filter((name) => !isCovered(name) || (SHARE > 1 && homeOf(name, operations) !== prefix));
  if (uncovered.length > 0) {
    const regex = `^(${uncovered.map((name) => name.replaceAll(/[.{}]/g, '\\$&')).join('|')})$`;
    made.push('[[operations]]', `include-name-regex = '${regex}'`, '[operations.phases]');
    made.push('coverage.enabled = false', 'fuzzing.enabled = false');
  }
  for (const operation of served) {
    const values = operation.method === 'DELETE' ? await possessions.freshFor(operation) : possessions.of(operation);
    const own = Object.entries(values).filter(([name, value]) => value !== usual[name]);
    if (own.length === 0) continue;
    made.push('[[operations]]', `include-name = '${nameOf(operation)}'`, '[operations.parameters]');
    made.push(...own.map(([name, value]) => pair(name, value)));
  }
  return made.join('\n');
}

const nameOf = ({ method, path: address }: DocumentedOperation) => `${method} ${address}`;
const pair = (name: string, value: string | number) => `"path.${name}" = ${JSON.stringify(value)}`;

async function namedInBodies({ values }: Possessions): Promise<typeof named> {
  const [policies, roles] = ['/cloud/v1/lifecycle_policy/{project_id}/{region_id}', '/cloud/v1/users/assignments'];
  const volumes = { volume_ids: [values.volume_id] };
  return {
    // Others use other regions, with the backend of them all.
    'POST /tradewind/v1/platform/maintenances': { region_id: 3, backend: 'nowhere' },
    [`POST ${policies}`]: volumes,
    [`POST ${policies}/estimate_max_policy_usage`]: volumes,
    [`PUT ${policies}/{policy_id}/add_volumes_to_policy`]: volumes,
    'POST /cloud/v1/pricing/{project_id}/{region_id}/lifecycle_policy': volumes,
    'POST /cloud/v2/pricing/{project_id}/{region_id}/lifecycle_policy': volumes,
    [`POST ${roles}`]: {
      user_id: await comes({ http: service.http, clientId: 1 }, anyEmail(), { name: 'Users' }),
    },
    [`PATCH ${roles}/{assignment_id}`]: { user_id: values.assigned_user_id },
  };
}

async function run(prefix: string, operations: string): Promise<Run> {
  const name = prefix.slice(1) || 'specification';
  const settings = path.join(output, `${name}.toml`);
  const report = path.join(output, `${name}.json`);
  const baseline = path.join(output, `${name}-baseline.json`);
  fs.writeFileSync(baseline, JSON.stringify({ format_version: 1, entries: exceptions }));
  const common = fs.readFileSync(path.join(SETTINGS, 'schemathesis.toml'), 'utf8');
  const hooks = `hooks = ${JSON.stringify(path.join(SETTINGS, 'hooks.py'))}`;
  fs.writeFileSync(settings, [hooks, common, operations].join('\n'));
  const said = await schemathesis([
    ...['--config-file', settings, 'run', `${service.url}${prefix}/openapi.json`],
    ...['--header', `Authorization: apikey ${service.http.token}`],
    ...['--baseline', baseline, '--report', 'json', '--report-json-path', report, '--no-color'],
  ]);
  expect(fs.existsSync(report), said).toBe(true);
  return { prefix, said, report: JSON.parse(fs.readFileSync(report, 'utf8')) };
}

function schemathesis(args: string[]): Promise<string> {
  const child = spawn(path.join(folder, 'bin/schemathesis'), args, {
    cwd: output,
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', NAMED_IN_BODIES: JSON.stringify(named) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(said));
  });
}

/** States no exact counts: they vary with the answers, and a new operation need not run this again. */
function resultOf(done: Run[]): ClientResult {
  return {
    client: 'Schemathesis, which tests an API by its OpenAPI document',
    pinned: done[0]?.report.schemathesis_version ?? '',
    passed: `every operation of ${PREFIXES.map((prefix) => `\`${prefix}/openapi.json\``).join(' and ')}; ${exceptions.length} operations may refuse what their schema allows, each with its reason`,
  };
}
