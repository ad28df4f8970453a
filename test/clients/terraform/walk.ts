import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Fault, faultText, type ResourceSteps } from '../../../scripts/compatibility/terraform.ts';
import { newKeyPair } from '../../../src/cloud/compute/ssh-keys/service.ts';
import { record, startWatchedService } from '../../support/clients.ts';
import { tlsBundle } from '../../support/tls-bundles.ts';
import { type Outcome, openTofu, type Tofu } from './tofu.ts';

interface Account {
  url: string;
  token: string;
  projectId: number;
  projectName: string;
}

interface Provider {
  /** The folder with its modules. */
  name: 'v0' | 'v2';
  client: string;
  /** The version whose faults are listed; the program can't tell which it is. */
  version: string;
  /** The variable of the environment that names its program. */
  variable: string;
  /** What the provider and its modules read from the environment; `TF_VAR_` is before what modules read. */
  environment(account: Account): Record<string, string>;
  faults: readonly Fault[];
}

/**
 * Takes each module through its steps with an official provider, each in an account of its own. The programs are
 * named by the environment, as no registry that is open to these tests has them.
 */
export function walkModules({ name, client, version, variable, environment, faults }: Provider): void {
  const { TRADEWIND_TEST_TOFU: tofu = '', [variable]: provider = '' } = process.env;
  const missing = Object.entries({ TRADEWIND_TEST_TOFU: tofu, [variable]: provider })
    .filter(([, file]) => !fs.existsSync(file))
    .map(([wanted, file]) => (file === '' ? `${wanted} is not set` : `${wanted} names no file: ${file}`));
  if (missing.length > 0) process.stderr.write(`SKIPPED, for want of programs of Terraform: ${missing.join('; ')}\n`);
  const folder = path.join(import.meta.dirname, name);
  const modules = fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  // A process has room for few of them.
  if (missing.length === 0) vi.setConfig({ maxConcurrency: 2 });

  describe.skipIf(missing.length > 0)(`${client}`, () => {
    let service: Awaited<ReturnType<typeof startWatchedService>>;
    let terraform: Tofu;
    let variables: Record<string, string>;
    const walked = new Map<string, Outcome[]>();
    const unlisted: string[] = [];

    beforeAll(async () => {
      service = await startWatchedService({ TRADEWIND_SIMULATION_SPEED: '100', TRADEWIND_RATE_LIMIT: '0' });
      terraform = openTofu({ tofu, provider, modules: folder });
      const [one, two] = [await newKeyPair('one'), await newKeyPair('two')];
      variables = {
        ...Object.fromEntries(Object.entries(await tlsBundle()).map(([key, text]) => [`TF_VAR_${key}`, text])),
        TF_VAR_public_key: one.text,
        TF_VAR_other_public_key: two.text,
      };
    });
    afterAll(async () => {
      vi.resetConfig();
      terraform?.stop();
      await service?.stop();
    });

    it.concurrent.each(modules)('%s', { timeout: 3_600_000 }, async (module) => {
      const { http, projectId } = await service.otherTenant();
      const token = http.token ?? expect.fail('The account has no token');
      const projectName = (await http.get(`/cloud/v1/projects/${projectId}`)).body.name;
      const outcomes = await terraform.walk(module, {
        ...variables,
        ...environment({ url: `${service.url}/gcore`, token, projectId, projectName }),
      });
      walked.set(module, outcomes);
      const known = faults.filter((fault) => fault.module === module);
      const wrong = outcomes.map((outcome) => wrongIn(outcome, known)).filter((text) => text !== undefined);
      if (wrong.length > 0) unlisted.push(module);
      expect(wrong).toEqual([]);
      const done = outcomes.map(({ step }) => step);
      expect(known.filter(({ step }) => !done.includes(step))).toEqual([]);
    });

    it('has done what docs/reference/compatibility.md says', () => {
      expect([...walked.keys()].toSorted(), 'only whole runs are compared').toEqual(modules.toSorted());
      expect(unlisted, 'nothing is written that is not explained').toEqual([]);
      expect(faults.filter(({ module }) => !modules.includes(module))).toEqual([]);
      const steps = [...walked.values()].flat();
      const failed = steps.filter((outcome) => outcome.error ?? outcome.drift).length;
      record(`terraform-${name}`, {
        client,
        seen: `${version}, with OpenTofu ${terraform.version()}`,
        passed: `${steps.length - failed} of ${steps.length} steps of ${modules.length} modules; [the others](#terraform) are its own faults`,
        operations: service.takeOperations(),
        resources: resourcesOf(walked, faults),
      });
    });
  });
}

/** Says what is not as the known faults have it. */
function wrongIn({ step, error, drift = [] }: Outcome, known: readonly Fault[]): string | undefined {
  const here = known.filter((fault) => fault.step === step);
  const listedErrors = here.flatMap((fault) => fault.error ?? []);
  const listedDrift = here.flatMap((fault) => fault.drift ?? []).toSorted();
  if (error !== undefined && !(listedErrors.length > 0 && listedErrors.every((text) => error.includes(text))))
    return `${step} failed:\n${error}`;
  if (error === undefined && listedErrors.length > 0)
    return `${step} is listed to fail with ${listedErrors.join(' and ')}, and doesn't`;
  if (drift.join() !== listedDrift.join())
    return `${step} drifts by [${drift.join(', ')}], and is listed to drift by [${listedDrift.join(', ')}]`;
  return undefined;
}

function resourcesOf(walked: ReadonlyMap<string, Outcome[]>, faults: readonly Fault[]): ResourceSteps {
  const resources: ResourceSteps = {};
  for (const [module, outcomes] of [...walked].toSorted(([a], [b]) => a.localeCompare(b))) {
    for (const { step, about, error } of outcomes) {
      const here = faults.filter((fault) => fault.module === module && fault.step === step);
      const fine = error === undefined ? about.map(typeOf) : [];
      for (const type of new Set([...fine, ...here.map(({ resource }) => resource)])) {
        const texts = here.filter(({ resource }) => resource === type).map(faultText);
        resources[type] ??= {};
        const steps = resources[type];
        steps[step] = [...new Set([...(steps[step] ?? []), ...texts])];
      }
    }
  }
  return Object.fromEntries(Object.entries(resources).toSorted(([a], [b]) => rank(a).localeCompare(rank(b))));
}

/** Data sources after the resources. */
const rank = (type: string) => `${type.startsWith('data.')} ${type}`;

/** `data.gcore_network` of `data.gcore_network.main[0]`. */
function typeOf(address: string): string {
  return address
    .split('.')
    .slice(0, address.startsWith('data.') ? 2 : 1)
    .join('.');
}
