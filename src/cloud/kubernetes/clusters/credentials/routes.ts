import { X509Certificate } from 'node:crypto';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import { stringify } from 'yaml';
import { asked } from '../../../../backends/contract/asking.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import { found } from '../../../../lib/ids.ts';
import { isoSeconds } from '../../../../lib/time.ts';
import { Named, Timestamp } from '../../../../lib/wire.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { type ClusterBase, ClusterParams } from '../schema.ts';
import { findCluster } from '../store.ts';
import { type CredentialsRow, findCredentials } from './store.ts';

/** For clusters that keep their keys. */
async function fromBackend(
  on: Platform,
  { regionId, projectId }: Scope,
  id: string,
  log: Pick<Logger, 'info'>,
): Promise<CredentialsRow | undefined> {
  const { credentialsOf } = on.backends.of(regionId, 'cluster');
  if (!credentialsOf) return undefined;
  const ref = { kind: 'cluster', id, regionId, projectId, handle: null } as const;
  const seen = await asked(log, (call) => credentialsOf(ref, call));
  if (!seen?.secret) return undefined;
  const { validFrom, validTo } = new X509Certificate(seen.clientCertificate);
  return {
    cluster_id: id,
    endpoint: seen.endpoint,
    ca_certificate: seen.caCertificate,
    ca_key: seen.secret.caKey,
    client_certificate: seen.clientCertificate,
    client_key: seen.secret.clientKey,
    created_at: new Date(validFrom),
    expires_at: new Date(validTo),
  };
}

/**
 * Records who got them, before they are given.
 * @throws NotFoundError, also if the cluster has no credentials; ConflictError while it is being created;
 * UnavailableError if the cluster keeps them and can't be asked
 */
export async function getClusterCredentials(
  on: Platform,
  scope: Scope,
  name: string,
  log: Pick<Logger, 'info'>,
): Promise<CredentialsRow> {
  const cluster = found('Cluster', name, await findCluster(on.database.sql, scope, name));
  if (cluster.status === 'Provisioning') {
    throw new ConflictError(
      `Cluster ${name} is being created by task ${cluster.task_id}. Wait until the task has ended, then try again`,
    );
  }
  const row =
    (await findCredentials(on.database.sql, on.secrets, cluster.id)) ?? (await fromBackend(on, scope, cluster.id, log));
  const credentials = found('Kubeconfig of cluster', name, row);
  // Reading them changes nothing, but they give full control of the cluster, so the log has a record.
  await on.database.accept(async (tx) => tx.made(cluster.id));
  return credentials;
}

export function presentedKubeconfig(clusterName: string, row: CredentialsRow) {
  const authority = base64(row.ca_certificate);
  const certificate = base64(row.client_certificate);
  const key = base64(row.client_key);
  const user = `${clusterName}-admin`;
  const context = `${user}@${clusterName}`;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: clusterName, cluster: { server: row.endpoint, 'certificate-authority-data': authority } }],
    users: [{ name: user, user: { 'client-certificate-data': certificate, 'client-key-data': key } }],
    contexts: [{ name: context, context: { cluster: clusterName, user } }],
    'current-context': context,
  };
  return {
    config: stringify(config, { lineWidth: 0 }),
    host: row.endpoint,
    client_certificate: certificate,
    client_key: key,
    cluster_ca_certificate: authority,
    created_at: isoSeconds(row.created_at),
    expires_at: isoSeconds(row.expires_at),
  };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

const tags = ['Kubernetes clusters'];

const Certificates = Named('KubernetesCertificates', {
  certificate: Type.String({ description: "Certificate of the cluster's certificate authority, as PEM" }),
  key: Type.String({ description: 'Private key of the certificate authority, as PEM' }),
});

const Kubeconfig = Named('Kubeconfig', {
  config: Type.String({ description: 'Kubeconfig file, as YAML' }),
  host: Type.String({ description: 'URL of the API server' }),
  client_certificate: Type.String({ description: 'PEM, base64-encoded' }),
  client_key: Type.String({ description: 'PEM, base64-encoded' }),
  cluster_ca_certificate: Type.String({ description: 'PEM, base64-encoded' }),
  created_at: Timestamp('For example 2026-05-23T05:07:31Z'),
  expires_at: Timestamp('For example 2028-05-23T05:07:31Z'),
});

/** Routes for credentials. They let the caller do everything inside the cluster, so read access isn't enough. */
export function credentialRoutes(app: Api, on: Platform, base: ClusterBase): void {
  const api = operations(app, { tags, params: ClusterParams, access: 'operate' });

  api.get(
    `${base.path}/:cluster_name/certificates`,
    `getKubernetesCertificates${base.suffix}`,
    'Get the certificate authority of a Kubernetes cluster',
    {
      noted: true,
      secretAnswer: true,
      description: 'Is recorded in the audit log. Returns 409 while the cluster is being created.',
      answer: Certificates,
      handler: async ({ scope, params, log }) => {
        const row = await getClusterCredentials(on, scope, params.cluster_name, log);
        return { certificate: row.ca_certificate, key: row.ca_key };
      },
    },
  );

  api.get(
    `${base.path}/:cluster_name/config`,
    `getKubernetesConfig${base.suffix}`,
    'Get the kubeconfig of a Kubernetes cluster',
    {
      noted: true,
      secretAnswer: true,
      description:
        "The certificates are real. On simulated infrastructure, the cluster has no API server, and its host name doesn't resolve. Is recorded in the audit log. Returns 409 while the cluster is being created.",
      answer: Kubeconfig,
      handler: async ({ scope, params, log }) => {
        const { cluster_name: name } = params;
        const row = await getClusterCredentials(on, scope, name, log);
        return presentedKubeconfig(name, row);
      },
    },
  );
}
