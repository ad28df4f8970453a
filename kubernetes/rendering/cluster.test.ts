import fs from 'node:fs';
import { expect, it } from 'vitest';
import { Document, isScalar, parse, visit } from 'yaml';
import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import { fullSpec, PLATFORM, plainSpec } from '../fixtures/specs.ts';
import { authenticationFile, authenticationFlags } from './authentication.ts';
import { clusterRendering } from './cluster.ts';
import { type KubernetesObject, OURS } from './objects.ts';

const { versions } = parse(fs.readFileSync('catalog/kubernetes-versions.yaml', 'utf8')) as {
  versions: string[];
};
/** The newest version of each minor. */
const OFFERED = [...new Map(versions.map((version) => [version.split('.').slice(0, 2).join('.'), version]))];

/** Short lists of words are easier to read on one line. */
function yaml(value: unknown): string {
  const document = new Document(value);
  visit(document, {
    Seq(_key, list) {
      list.flow =
        list.items.length <= 8 && list.items.every((item) => isScalar(item) && String(item.value).length < 24);
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function inUsualOrder({ apiVersion, kind, metadata, ...rest }: KubernetesObject): KubernetesObject {
  return { apiVersion, kind, metadata, ...rest };
}

/** Everything that a spec becomes, to be read by a person. */
function documentsOf(spec: ClusterSpec): string[] {
  const { objects, once, parts, absent } = clusterRendering(spec, PLATFORM);
  const described = (comment: string, all: KubernetesObject[]) =>
    all.map((object) => `# ${comment}\n${yaml(inUsualOrder(object))}`);
  return [
    `# Flags of the API server\n${yaml(authenticationFlags(spec, PLATFORM, '/etc/kubernetes/authentication.yaml'))}`,
    ...described('Applied', objects),
    ...described('Made where it is absent', once),
    ...described('Applied where it is there', parts),
    ...absent.map(({ kind, namespace, name }) => `# Removed: ${kind} ${namespace ?? ''} ${name}\n`),
  ];
}

const asText = (spec: ClusterSpec): string => documentsOf(spec).join('---\n');

it.each(OFFERED)(
  'renders all six groups for Kubernetes %s, as the minor before but for what the file says',
  async (minor, version) => {
    const before = OFFERED[OFFERED.findIndex(([name]) => name === minor) - 1];
    const known = before ? documentsOf(fullSpec(before[1])) : [];
    const documents = documentsOf(fullSpec(version));
    const gone = known.filter((text) => !documents.includes(text)).map((text) => `# Not as before: ${titleOf(text)}\n`);
    const text = [...gone, ...documents.filter((document) => !known.includes(document))].join('---\n');
    await expect(text).toMatchFileSnapshot(`golden/${minor.slice(1)}.yaml`);
  },
);

const titleOf = (text: string): string =>
  [/^kind: (.*)$/m, /^ {2}name: (.*)$/m].map((pattern) => pattern.exec(text)?.[1] ?? '').join(' ');

it('renders a cluster whose owner chose nothing', async () => {
  await expect(asText(plainSpec())).toMatchFileSnapshot('golden/nothing-chosen.yaml');
});

it('renders the same from the same settings in another order', () => {
  const spec = fullSpec('v1.32.13');
  const turned = (value: unknown): unknown =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([name, member]) => [name, turned(member)]),
        )
      : value;
  expect(asText(turned(spec) as ClusterSpec)).toBe(asText(spec));
});

it('restarts what reads a changed setting, and nothing else', () => {
  const templates = (spec: ClusterSpec) => {
    const { objects, parts } = clusterRendering(spec, PLATFORM);
    return Object.fromEntries(
      [...objects, ...parts].flatMap(({ kind, metadata, spec: of }) => {
        const { template } = (of ?? {}) as { template?: { metadata: { annotations: object } } };
        return template ? [[`${kind} ${metadata.name}`, JSON.stringify(template.metadata.annotations)]] : [];
      }),
    );
  };
  const before = fullSpec('v1.33.7');
  const after = structuredClone(before);
  (after.configuration.logging as { topic_name: string }).topic_name = 'other';
  const changed = Object.entries(templates(after)).filter(([name, text]) => templates(before)[name] !== text);
  expect(changed.map(([name]) => name)).toEqual(['DaemonSet tradewind-fluent-bit']);
});

it('marks all that it makes, and names for removal only what it makes', () => {
  const on = clusterRendering(fullSpec('v1.32.13'), PLATFORM);
  const off = clusterRendering(plainSpec(), PLATFORM);
  for (const { metadata } of [...on.objects, ...on.once]) expect(metadata.labels).toMatchObject(OURS);
  const nameOf = ({ apiVersion, kind, namespace, name }: Record<string, unknown>) =>
    [apiVersion, kind, namespace, name].join(' ');
  const made = new Set(on.objects.map(({ apiVersion, kind, metadata }) => nameOf({ apiVersion, kind, ...metadata })));
  for (const name of off.absent) expect(made).toContain(nameOf({ ...name }));
  expect(on.absent).toEqual([]);
});

const ALL_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];

it.each([
  ['v1.33.7', 'v1beta1'],
  ['v1.34.4', 'v1'],
])('uses the file for authentication on %s once all algorithms are accepted', (version, apiVersion) => {
  const spec = fullSpec(version);
  const { oidc } = spec.configuration.authentication as { oidc: Record<string, unknown> };
  expect(authenticationFile(spec, PLATFORM)).toBeUndefined();
  oidc.signing_algs = ALL_ALGORITHMS;
  oidc.username_prefix = '-';
  expect(authenticationFlags(spec, PLATFORM, '/a/file')).toEqual(['--authentication-config=/a/file']);
  expect(parse(authenticationFile(spec, PLATFORM) ?? '')).toEqual({
    apiVersion: `apiserver.config.k8s.io/${apiVersion}`,
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url: 'https://accounts.example.com', audiences: ['kubernetes'] },
        claimMappings: {
          username: { claim: 'email', prefix: '' },
          groups: { claim: 'groups', prefix: 'team:' },
        },
        claimValidationRules: [
          { claim: 'aal', requiredValue: '2' },
          { claim: 'hd', requiredValue: 'example.com' },
        ],
      },
    ],
  });
});
