import { Unsupported } from '../contract/backend.ts';
import type { ClusterObservation } from '../contract/specs.ts';
import type { Client, ClusterAccess, LiveObject } from '../kubernetes/applying/client.ts';
import { accessOf } from '../kubernetes/applying/kubeconfig.ts';
import { decoded } from '../kubernetes/base64.ts';

type Credentials = ClusterObservation & Required<Pick<ClusterObservation, 'secret'>>;

/**
 * Reads what the cluster's own secrets say, each time, since Cluster API renews them. Returns undefined if they aren't
 * there yet.
 * @throws Unsupported if the kubeconfig is not one with a client certificate
 */
export async function credentialsIn(
  client: Client,
  { metadata: { name, namespace = '' } }: LiveObject,
): Promise<Credentials | undefined> {
  const secret = async (purpose: string): Promise<Record<string, string>> => {
    const of = { apiVersion: 'v1', kind: 'Secret', name: `${name}-${purpose}`, namespace };
    return ((await client.get(of))?.data ?? {}) as Record<string, string>;
  };
  const [{ value: kubeconfig }, { 'tls.key': caKey }] = [await secret('kubeconfig'), await secret('ca')];
  if (kubeconfig === undefined || caKey === undefined) return undefined;
  const access = read(decoded(kubeconfig));
  if (access.token !== undefined) throw new Unsupported("The cluster's kubeconfig has no client certificate");
  const { server: endpoint, caCertificate, clientCertificate, clientKey } = access;
  return { endpoint, caCertificate, clientCertificate, secret: { caKey: decoded(caKey), clientKey } };
}

function read(kubeconfig: string): ClusterAccess {
  try {
    return accessOf(kubeconfig);
  } catch (error) {
    throw new Unsupported(`The cluster's kubeconfig ${(error as Error).message}`);
  }
}

export const accessBy = ({ endpoint: server, secret, ...certificates }: Credentials): ClusterAccess => ({
  server,
  ...certificates,
  clientKey: secret.clientKey,
});

/** What may be stored. */
export function withoutKeys({ secret: _, ...observed }: Credentials): ClusterObservation {
  return { ...observed, keepsKeys: true };
}
