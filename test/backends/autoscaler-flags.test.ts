import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { plainSpec } from '../../kubernetes/fixtures/specs.ts';
import { autoscaler } from '../../kubernetes/rendering/autoscaler.ts';
import { renderingProblems } from '../../kubernetes/rendering/problems.ts';
import {
  AUTOSCALER_PARAMETERS,
  autoscalerProblems,
} from '../../src/cloud/kubernetes/clusters/configuration/validate.ts';
import { complaints, type GoFlags, whyNoGo } from '../support/go-flags.ts';

/*
 * The autoscaler exits at a flag that it does not know, or can't read. Its module can't be had from the Go module proxy,
 * so its flags are written down here, as its sources at https://github.com/kubernetes/autoscaler have them:
 * cluster-autoscaler/main.go after pull request 7219, which 1.32 has, and config/flags/flags.go of commit 01ea19e5,
 * which is later than 1.34. 1.31 has the flags of the first but for the note that one of them is deprecated.
 */
const COMMON: GoFlags = {
  'balance-similar-node-groups': 'Bool',
  'cloud-provider': 'String',
  expander: 'String',
  'expendable-pods-priority-cutoff': 'Int',
  'grpc-expander-url': 'String',
  'ignore-daemonsets-utilization': 'Bool',
  'max-graceful-termination-sec': 'Int',
  'max-node-provision-time': 'Duration',
  'max-scale-down-parallelism': 'Int',
  'max-total-unready-percentage': 'Float64',
  namespace: 'String',
  'new-pod-scale-up-delay': 'Duration',
  'ok-total-unready-count': 'Int',
  'scale-down-delay-after-add': 'Duration',
  'scale-down-delay-after-delete': 'Duration',
  'scale-down-delay-after-failure': 'Duration',
  'scale-down-enabled': 'Bool',
  'scale-down-unneeded-time': 'Duration',
  'scale-down-unready-time': 'Duration',
  'scale-down-utilization-threshold': 'Float64',
  'scan-interval': 'Duration',
  'skip-nodes-with-custom-controller-pods': 'Bool',
  'skip-nodes-with-local-storage': 'Bool',
  'skip-nodes-with-system-pods': 'Bool',
};
const EARLY: GoFlags = { ...COMMON, 'max-empty-bulk-delete': 'Int' };
/** Of the minors between the two sources, in which both are to be understood. */
const flagsOf = (minor: number) => (minor < 32 ? EARLY : COMMON);

/** What the API accepts and is most likely to be read in another way. */
const VALUES: Record<string, string[]> = {
  bool: ['true', 'false'],
  expander: ['random', 'most-pods,least-waste', 'priority,grpc,random'],
  int: ['0', '-0', '+5', '2147483647'],
  float: ['0', '-0', '+1', '1.', '.5', '0.990', '00.50', '100', '-7', '-2147483648', '1000000000', '1.5'],
  duration: ['0', '10s', '1h30m', '500ms', '1.5h', '+2m', '.5s', '3us', '7ns', '876000h'],
};
const PLATFORM = {
  grpc_expander_url: 'expander:443',
  autoscalerArguments: ['--cloud-provider=clusterapi'],
};

/** The flags for each value that the API and the backend accept, by what was asked for. */
function accepted(version: string): Map<string, string[]> {
  const asked = [...AUTOSCALER_PARAMETERS].flatMap(([name, { kind }]) =>
    (VALUES[kind] ?? []).map((value) => ({ [name]: value })),
  );
  const good = [{}, ...asked].filter((overrides) => autoscalerProblems(overrides).length === 0);
  return new Map(
    good.flatMap((autoscaler_config) => {
      const spec = plainSpec({ version, configuration: { autoscaler_config } });
      if (renderingProblems(spec, PLATFORM).length > 0) return [];
      return [[JSON.stringify(autoscaler_config), argumentsOf(spec)] as const];
    }),
  );
}

function argumentsOf(spec: ReturnType<typeof plainSpec>): string[] {
  const deployment = autoscaler(spec, PLATFORM).objects.find(({ kind }) => kind === 'Deployment');
  const { template } = (deployment?.spec ?? {}) as {
    template?: { spec: { containers: { args: string[] }[] } };
  };
  return template?.spec.containers[0]?.args ?? [];
}

const { versions } = parse(fs.readFileSync('catalog/kubernetes-versions.yaml', 'utf8'));
const minors = new Set(versions.map((version: string) => Number(version.split('.')[1])));

describe.each([...minors] as number[])('the autoscaler of 1.%i', (minor) => {
  const given = accepted(`v1.${minor}.0`);

  it('is given flags that it has, for every parameter', () => {
    const known = Object.keys(flagsOf(minor));
    const used = new Set([...given.values()].flat().map((flag) => flag.split('=')[0]?.slice(2)));
    expect([...used].filter((name) => !known.includes(name ?? ''))).toEqual([]);
    const asked = new Set([...given.keys()].flatMap((overrides) => Object.keys(JSON.parse(overrides))));
    expect([...asked].sort()).toEqual([...AUTOSCALER_PARAMETERS.keys()].sort());
  });

  it.skipIf(whyNoGo)('reads every value that is accepted', { timeout: 120_000 }, () => {
    expect(complaints(flagsOf(minor), given)).toEqual({});
  });
});

it.skipIf(whyNoGo)('what is not accepted would stop it', { timeout: 120_000 }, () => {
  const bad = ['--scan-interval=10', '--scan-intervall=1s', '--scale-down-enabled=yes', '--ok-total-unready-count=1.5'];
  const told = complaints(COMMON, new Map(bad.map((flag) => [flag, [flag]])));
  expect(Object.keys(told).sort()).toEqual(bad.sort());
});
