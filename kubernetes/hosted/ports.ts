import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { Unavailable } from '../../src/backends/contract/backend.ts';
import { attempt } from '../../src/lib/errors.ts';
import type { HostedCluster } from './files.ts';

/**
 * Finds a free port and keeps it for the cluster: a file named after the port, with the cluster's id in it. Those of
 * the range aren't given to outgoing connections, so that a cluster finds its port again after a pause.
 */
export async function keepPort(
  clusters: string,
  { id, address }: Omit<HostedCluster, 'port'>,
  { from, to }: { from: number; to: number },
): Promise<number> {
  const folder = path.join(clusters, '.ports');
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [kept] = portsOf(clusters, id);
  if (kept !== undefined) return kept;
  for (let port = from; port <= to; port++) {
    const file = path.join(folder, String(port));
    if (fs.existsSync(file) || !(await isFree(address, port))) continue;
    // Another process may be faster.
    if (attempt(() => fs.writeFileSync(file, id, { flag: 'wx' }) ?? true)) return port;
  }
  throw new Unavailable(`no port from ${from} to ${to} is free on ${address} for another cluster`);
}

function portsOf(clusters: string, id: string): number[] {
  const folder = path.join(clusters, '.ports');
  const names = attempt(() => fs.readdirSync(folder)) ?? [];
  return names.filter((name) => attempt(() => fs.readFileSync(path.join(folder, name), 'utf8')) === id).map(Number);
}

/** Frees all ports that are kept for the cluster, except for one. */
export function freePorts(clusters: string, id: string, except?: number): void {
  for (const port of portsOf(clusters, id)) {
    if (port !== except) fs.rmSync(path.join(clusters, '.ports', String(port)), { force: true });
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
