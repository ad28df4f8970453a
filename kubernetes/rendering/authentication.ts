import { stringify } from 'yaml';
import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { Platform } from '../platform.ts';
import { groupsOf, minorOf, type Oidc } from './groups.ts';

/** The platform's prefix. The API server's own would be the issuer for users, and none at all for groups. */
const PREFIX = 'oidc:';
/** Of `username_prefix` alone. */
const NO_PREFIX = '-';
const ALGORITHMS = 9;
const GENERAL_SINCE = 34;

/**
 * Returns the flags of the API server that the cluster's authentication asks for, sorted. `file` is where the text
 * of `authenticationFile` is kept.
 */
export function authenticationFlags(spec: ClusterSpec, platform: Platform, file: string): string[] {
  const { oidc } = groupsOf(spec).authentication ?? {};
  if (!oidc) return [];
  if (authenticationFile(spec, platform) !== undefined) return [`--authentication-config=${file}`];
  return [...oidcFlags(oidc), ...(platform.oidc_ca ? [`--oidc-ca-file=${platform.oidc_ca.file}`] : [])].sort();
}

/**
 * Returns the API server's AuthenticationConfiguration, which it reads again when it changes; undefined if only flags
 * can do what is asked for, at the price of a restart. That is nearly always: the file has no word for algorithms and
 * accepts all of them, whereas the API's default is RS256 alone.
 */
export function authenticationFile(spec: ClusterSpec, { oidc_ca: ca }: Platform): string | undefined {
  const { oidc } = groupsOf(spec).authentication ?? {};
  if (!oidc || new Set(oidc.signing_algs).size < ALGORITHMS) return undefined;
  const version = minorOf(spec) >= GENERAL_SINCE ? 'v1' : 'v1beta1';
  return stringify({
    apiVersion: `apiserver.config.k8s.io/${version}`,
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: {
          url: oidc.issuer_url,
          audiences: [oidc.client_id],
          ...(ca && { certificateAuthority: ca.text }),
        },
        claimMappings: {
          username: { claim: oidc.username_claim ?? 'sub', prefix: usernamePrefix(oidc) },
          ...(oidc.groups_claim !== undefined && {
            groups: { claim: oidc.groups_claim, prefix: oidc.groups_prefix ?? PREFIX },
          }),
        },
        claimValidationRules: claimsOf(oidc).map(([claim, requiredValue]) => ({ claim, requiredValue })),
      },
    ],
  });
}

function oidcFlags(oidc: Oidc): string[] {
  return [
    `--oidc-issuer-url=${oidc.issuer_url}`,
    `--oidc-client-id=${oidc.client_id}`,
    `--oidc-username-claim=${oidc.username_claim ?? 'sub'}`,
    `--oidc-username-prefix=${oidc.username_prefix ?? PREFIX}`,
    ...(oidc.groups_claim === undefined
      ? []
      : [`--oidc-groups-claim=${oidc.groups_claim}`, `--oidc-groups-prefix=${oidc.groups_prefix ?? PREFIX}`]),
    ...claimsOf(oidc).map(([claim, value]) => `--oidc-required-claim=${claim}=${value}`),
    `--oidc-signing-algs=${(oidc.signing_algs ?? ['RS256']).toSorted().join(',')}`,
  ];
}

const usernamePrefix = ({ username_prefix: prefix }: Oidc): string => (prefix === NO_PREFIX ? '' : (prefix ?? PREFIX));

const claimsOf = ({ required_claims = {} }: Oidc): [string, string][] =>
  Object.entries(required_claims).sort(([a], [b]) => (a < b ? -1 : 1));
