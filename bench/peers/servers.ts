import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { installNpm, installPython, npmPackage, pythonPackages } from '../../scripts/cache.ts';
import { processTree } from '../start/process-tree.ts';
import { ROOT } from '../support/child.ts';
import { TOKEN } from '../support/product.ts';
import { createClient, type Request } from './client.ts';

/** A server, and how it is asked for a security group without rules. */
export interface Peer {
  name: string;
  keeps: string;
  /** Makes the server startable. Returns why that can't be. */
  install(): string | undefined;
  command(port: number, folder: string): { program: string; args: string[]; env?: Record<string, string> };
  create(name: string): Request;
  /** The new group's ID, from the answer to its creation. */
  idIn(answer: string): string;
  read(id: string): Request;
  list(): Request;
  delete(id: string): Request;
}

const GROUPS = '/cloud/v1/securitygroups/1/1';
const headers = { authorization: `apikey ${TOKEN}`, 'content-type': 'application/json' };

/** The same requests for Tradewind and for what serves its OpenAPI document. */
export const ours = {
  create: (name: string) => ({
    method: 'POST',
    path: GROUPS,
    headers,
    body: JSON.stringify({ security_group: { name, security_group_rules: [] } }),
  }),
  idIn: (answer: string) => (JSON.parse(answer) as { id: string }).id,
  read: (id: string) => ({ method: 'GET', path: `${GROUPS}/${id}`, headers }),
  list: () => ({ method: 'GET', path: `${GROUPS}?limit=20`, headers }),
  delete: (id: string) => ({
    method: 'DELETE',
    path: `${GROUPS}/${id}`,
    headers: { authorization: headers.authorization },
  }),
};

const tradewind = (name: string, keeps: string, durability: 'full' | 'relaxed'): Peer => ({
  name,
  keeps,
  install: () => undefined,
  command: (port, folder) => ({
    program: process.execPath,
    args: [path.join(ROOT, 'dist/src/main.js'), 'serve'],
    env: {
      TRADEWIND_PORT: String(port),
      TRADEWIND_DATA_DIR: path.join(folder, durability),
      TRADEWIND_DURABILITY: durability,
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_RATE_LIMIT: '0',
      TRADEWIND_LOG_LEVEL: 'warn',
    },
  }),
  ...ours,
});

/** The newest version that says it runs on Node 20. */
const PRISM = ['@stoplight/prism-cli', '5.14.2'] as const;

const prism: Peer = {
  name: `Prism ${PRISM[1]}`,
  keeps: "nothing: answers with our OpenAPI document's examples",
  install: () => installNpm(...PRISM),
  command: (port) => ({
    program: process.execPath,
    args: [
      path.join(npmPackage(...PRISM).folder, 'node_modules', PRISM[0], 'dist/index.js'),
      ...['mock', '--port', String(port), '--verboseLevel', 'warn', path.join(ROOT, 'openapi/openapi.json')],
    ],
  }),
  ...ours,
};

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const ec2 = (action: string, words: Record<string, string>): Request => ({
  method: 'POST',
  path: '/',
  headers: {
    // It checks no signature, and reads the service and the region from here.
    authorization:
      'AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=0',
    'content-type': 'application/x-www-form-urlencoded',
  },
  body: new URLSearchParams({ Action: action, Version: '2016-11-15', ...words }).toString(),
});

const moto: Peer = {
  name: `moto ${/==(.*)/.exec(fs.readFileSync(REQUIREMENTS, 'utf8'))?.[1]} (EC2)`,
  keeps: 'in memory, gone with the process',
  install: () => installPython('moto', REQUIREMENTS),
  command: (port) => ({
    program: path.join(pythonPackages('moto', REQUIREMENTS).folder, 'bin/moto_server'),
    args: ['--port', String(port)],
  }),
  create: (name) => ec2('CreateSecurityGroup', { GroupName: name, GroupDescription: 'bench' }),
  idIn: (answer) => /<groupId>([^<]+)/.exec(answer)?.[1] ?? '',
  read: (id) => ec2('DescribeSecurityGroups', { 'GroupId.1': id }),
  list: () => ec2('DescribeSecurityGroups', { MaxResults: '20' }),
  delete: (id) => ec2('DeleteSecurityGroup', { GroupId: id }),
};

export const peers: readonly Peer[] = [
  tradewind('Tradewind', 'in PostgreSQL, durable', 'full'),
  tradewind('Tradewind, relaxed', 'in PostgreSQL, unless the machine crashes', 'relaxed'),
  prism,
  moto,
];

export interface Running {
  pid: number;
  port: number;
  /** From the start of the program to its first answer. */
  seconds: number;
  cpuSeconds: number;
  stop(): Promise<void>;
}

/** Starts it and asks for its list until that is answered. */
export async function start(peer: Peer, folder: string): Promise<Running> {
  const port = await freePort();
  const { program, args, env } = peer.command(port, folder);
  const begun = performance.now();
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, ...env }, stdio: 'ignore' });
  const { call, close } = createClient(port);
  try {
    for (;;) {
      const answered = await call(peer.list()).then(
        () => true,
        () => false,
      );
      if (answered) break;
      if (child.exitCode !== null || performance.now() - begun > 60_000)
        throw new Error(`${peer.name} does not answer`);
      await sleep(10);
    }
    const seconds = (performance.now() - begun) / 1000;
    const { cpuSeconds } = processTree(child.pid ?? 0);
    return { pid: child.pid ?? 0, port, seconds, cpuSeconds, stop: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw error;
  } finally {
    close();
  }
}

export function temporaryFolder(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-bench-'));
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  return port;
}
