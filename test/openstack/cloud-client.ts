// A small client for what the rig itself asks of OpenStack, as the administrator.
import { addresses, PASSWORD } from './configuration.ts';

export const ADMIN = { username: 'admin', password: PASSWORD, project: 'admin', domain: 'default' } as const;
const WITHIN_MS = 120_000;

/** The answers of a cloud by the paths of its services. A service is what `addresses` calls it. */
export interface CloudClient {
  /** The administrator's own. */
  projectId: string;
  /** Throws with what the service says unless it answers 2xx. */
  call<T>(method: string, service: keyof ReturnType<typeof addresses>, path: string, body?: unknown): Promise<T>;
  /** Sends the bytes of an image. */
  upload(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

export async function createCloudClient(port: number): Promise<CloudClient> {
  const at = addresses(port);
  const send = async (
    method: string,
    url: string,
    headers: Record<string, string>,
    body: string | Uint8Array<ArrayBuffer> | null,
  ) => {
    const signal = AbortSignal.timeout(WITHIN_MS);
    const response = await fetch(url, { method, headers, body, signal });
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
    return response;
  };
  const domain = { id: ADMIN.domain };
  const user = { name: ADMIN.username, password: ADMIN.password, domain };
  const auth = {
    identity: { methods: ['password'], password: { user } },
    scope: { project: { name: ADMIN.project, domain } },
  };
  const json = { 'content-type': 'application/json' };
  const granted = await send('POST', `${at.keystone}/v3/auth/tokens`, json, JSON.stringify({ auth }));
  const token = { 'x-auth-token': granted.headers.get('x-subject-token') ?? '' };
  const { token: about } = (await granted.json()) as { token: { project: { id: string } } };
  return {
    projectId: about.project.id,
    async call<T>(method: string, service: keyof typeof at, path: string, body?: unknown) {
      const sent = body === undefined ? null : JSON.stringify(body);
      const response = await send(method, `${at[service]}${path}`, { ...json, ...token }, sent);
      const text = await response.text();
      return (text === '' ? undefined : JSON.parse(text)) as T;
    },
    async upload(path, bytes) {
      await send('PUT', `${at.glance}${path}`, { 'content-type': 'application/octet-stream', ...token }, bytes);
    },
  };
}
