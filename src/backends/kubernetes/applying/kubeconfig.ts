import { parse } from 'yaml';
import { attempt } from '../../../lib/attempt.ts';
import type { ClusterAccess } from './client.ts';

interface Kubeconfig {
  'current-context'?: string;
  contexts?: { name: string; context?: { cluster?: string; user?: string } }[];
  clusters?: { name: string; cluster?: Record<string, string> }[];
  users?: { name: string; user?: Record<string, string> }[];
}

/**
 * Reads the current context of a kubeconfig. What it needs has to be in it: programs that would fetch a login, and
 * files beside it, are on the machine of whoever wrote it.
 * @throws Error that says what is missing
 */
export function accessOf(kubeconfig: string): ClusterAccess {
  const config = attempt(() => parse(kubeconfig) as Kubeconfig | null);
  if (!config || typeof config !== 'object') throw new Error('is no kubeconfig');
  const name = config['current-context'];
  const context = config.contexts?.find((one) => one.name === name)?.context;
  if (!context) throw new Error('has no current context');
  const cluster = config.clusters?.find((one) => one.name === context.cluster)?.cluster ?? {};
  const user = config.users?.find((one) => one.name === context.user)?.user ?? {};
  const { server } = cluster;
  if (!server?.startsWith('https://')) throw new Error('names no server with https');
  const caCertificate = decoded(cluster['certificate-authority-data']);
  if (caCertificate === undefined) throw new Error('has no certificate-authority-data');
  const [clientCertificate, clientKey] = [
    decoded(user['client-certificate-data']),
    decoded(user['client-key-data']),
  ];
  if (clientCertificate !== undefined && clientKey !== undefined) {
    return { server, caCertificate, clientCertificate, clientKey };
  }
  if (user.token) return { server, caCertificate, token: user.token };
  throw new Error('has neither a token nor client-certificate-data with client-key-data');
}

const decoded = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : Buffer.from(text, 'base64').toString();
