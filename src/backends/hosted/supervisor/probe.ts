import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import type { Probe } from './files.ts';

const PATIENCE_MS = 2_000;

/** Whether the process answers 200. Paths of sockets are relative, since the kernel allows a hundred characters. */
export function answers(folder: string, probe: Probe): Promise<boolean> {
  return new Promise((resolve) => {
    const no = () => resolve(false);
    const read = (name: string) => fs.readFileSync(path.resolve(folder, name));
    const options = { timeout: PATIENCE_MS, agent: false } as const;
    try {
      const request =
        'socket' in probe
          ? http.get(
              {
                ...options,
                socketPath: path.relative('', path.join(folder, probe.socket)),
                path: probe.path,
              },
              heard,
            )
          : https.get(
              probe.url,
              {
                ...options,
                ca: read(probe.caFile),
                cert: read(probe.certificateFile),
                key: read(probe.keyFile),
              },
              heard,
            );
      request.on('error', no).on('timeout', () => request.destroy(new Error('it does not answer')));
    } catch {
      // A file is missing, since the cluster is being removed.
      no();
    }

    function heard(response: http.IncomingMessage): void {
      response.resume();
      resolve(response.statusCode === 200);
    }
  });
}
