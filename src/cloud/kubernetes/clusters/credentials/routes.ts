import { Type } from 'typebox';
import { stringify } from 'yaml';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { isoSeconds } from '../../../../lib/time.ts';
import { Named, Timestamp } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import type { ClusterBase } from '../params.ts';
import { ClusterParams } from '../schema.ts';
import { getClusterCredentials } from './service.ts';
import type { CredentialsRow } from './store.ts';

export function presentedCertificates(row: CredentialsRow) {
  return { certificate: row.ca_certificate, key: row.ca_key };
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
    clusters: [
      { name: clusterName, cluster: { server: row.endpoint, 'certificate-authority-data': authority } },
    ],
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
      handler: async ({ scope, params, log }) =>
        presentedCertificates(await getClusterCredentials(on, scope, params.cluster_name, log)),
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
