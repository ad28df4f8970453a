import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { Unavailable } from '../contract/backend.ts';
import { FILES, type HostedCluster, urlOf } from './files.ts';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: objects of the cluster, whose readers know their form
  body: any;
}

/** Talks to a cluster's API server as its administrator. */
export interface ClusterApi {
  get(path: string): Promise<Answer>;
  /** Server-side apply under our name, also of fields that somebody else has set. */
  apply(path: string, object: object): Promise<Answer>;
  /** Replaces what the object says, lists as a whole. */
  merge(path: string, object: object): Promise<Answer>;
  remove(path: string): Promise<Answer>;
  close(): void;
}

const MANAGER = 'tradewind';
const PATIENCE_MS = 10_000;
const BEGINNING = 300;

export function connect(folder: string, cluster: HostedCluster, signal: AbortSignal): ClusterApi {
  const read = (name: string) => fs.readFileSync(path.join(folder, name));
  const agent = new https.Agent({
    keepAlive: true,
    ca: read(FILES.caCertificate),
    cert: read(FILES.adminCertificate),
    key: read(FILES.adminKey),
  });

  function call(method: string, where: string, body?: object, type = 'apply-patch+yaml'): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = https.request(
        urlOf(cluster) + where,
        {
          method,
          agent,
          signal,
          timeout: PATIENCE_MS,
          headers: body ? { 'content-type': `application/${type}` } : {},
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const status = response.statusCode ?? 0;
            if (status >= 500 || status === 429) return reject(new Unavailable(said(status, text)));
            resolve({ status, body: JSON.parse(text) });
          });
        },
      );
      request.on('timeout', () => request.destroy(new Unavailable('the API server does not answer')));
      request.on('error', reject);
      request.end(body && JSON.stringify(body));
    });
  }

  return {
    get: (where) => call('GET', where),
    apply: (where, object) => call('PATCH', `${where}?fieldManager=${MANAGER}&force=true`, object),
    merge: (where, object) => call('PATCH', where, object, 'merge-patch+json'),
    remove: (where) => call('DELETE', where),
    close: () => agent.destroy(),
  };
}

const said = (status: number, text: string): string =>
  `the API server answers ${status}: ${text.slice(0, BEGINNING)}`;
