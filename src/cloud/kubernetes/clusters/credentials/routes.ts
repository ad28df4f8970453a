import { Type } from 'typebox';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { Timestamp } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import type { ClusterBase } from '../params.ts';
import { ClusterParams } from '../schema.ts';
import { presentedCertificates, presentedKubeconfig } from './presenter.ts';
import { getClusterCredentials } from './service.ts';

const tags = ['Kubernetes clusters'];

const Certificates = Type.Object(
  {
    certificate: Type.String({ description: "Certificate of the cluster's certificate authority, as PEM" }),
    key: Type.String({ description: 'Private key of the certificate authority, as PEM' }),
  },
  { title: 'KubernetesCertificates' },
);

const Kubeconfig = Type.Object(
  {
    config: Type.String({ description: 'Kubeconfig file, as YAML' }),
    host: Type.String({ description: 'URL of the API server' }),
    client_certificate: Type.String({ description: 'PEM, base64-encoded' }),
    client_key: Type.String({ description: 'PEM, base64-encoded' }),
    cluster_ca_certificate: Type.String({ description: 'PEM, base64-encoded' }),
    created_at: Timestamp('For example 2026-05-23T05:07:31Z'),
    expires_at: Timestamp('For example 2028-05-23T05:07:31Z'),
  },
  { title: 'Kubeconfig' },
);

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
