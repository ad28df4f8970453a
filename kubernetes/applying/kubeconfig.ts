import { parse } from 'yaml';
import { attempt } from '../../src/lib/errors.ts';
import { decoded } from '../base64.ts';
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
  const { 'certificate-authority-data': authority } = cluster;
  if (authority === undefined) throw new Error('has no certificate-authority-data');
  const caCertificate = decoded(authority);
  const { 'client-certificate-data': certificate, 'client-key-data': key } = user;
  if (certificate !== undefined && key !== undefined) {
    return { server, caCertificate, clientCertificate: decoded(certificate), clientKey: decoded(key) };
  }
  if (user.token) return { server, caCertificate, token: user.token };
  throw new Error('has neither a token nor client-certificate-data with client-key-data');
}
