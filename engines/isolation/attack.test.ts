import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { needs } from '../../test/support/engines.ts';
import { SOON } from '../../test/support/http-client.ts';
import { processesIn } from '../../test/support/processes-in.ts';

const ATTACKED = fileURLToPath(new URL('./fixtures/attacked.ts', import.meta.url));
const SOMEBODY = 12_345;
const LIMITS = { processes: 64, writtenBytes: 20_000_000 };
/** Devices that everybody may write to, and that keep nothing. */
const HARMLESS = /^\/dev\/(null|zero|full|random|urandom|tty|ptmx|pts\/ptmx)$/;

const as = (uid: number) => ['setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups'];
const mayRead = (uid: number) => spawnSync('env', [...as(uid), 'test', '-r', ATTACKED]).status === 0;

/** Users who may be running Tradewind. */
const USERS: [string, number, string[]][] =
  process.getuid?.() === 0
    ? [
        ['root', 0, []],
        ...(mayRead(SOMEBODY) ? [['somebody', SOMEBODY, as(SOMEBODY)] as [string, number, string[]]] : []),
      ]
    : [['this user', process.getuid?.() ?? 0, []]];

const homes: string[] = [];
const servers: net.Server[] = [];
afterAll(() => {
  for (const home of homes) fs.rmSync(home, { recursive: true });
  for (const server of servers) server.close();
});
async function listening(to: net.ListenOptions): Promise<net.Server> {
  const server = net.createServer();
  servers.push(server);
  await once(server.listen(to), 'listening');
  return server;
}

describe.each(USERS)(
  'an analysis that was taken over, where the server is %s',
  needs('sandbox'),
  (name, uid, prefix) => {
    test('reaches nothing but its medium, and takes no more than it may', async () => {
      const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-attack-'));
      homes.push(home);
      const secret = path.join(home, 'token');
      fs.writeFileSync(secret, 'a token', { mode: 0o600 });
      for (const file of [home, secret]) fs.chownSync(file, uid, process.getgid?.() === 0 ? uid : -1);
      const abstract = `\0tradewind-${process.pid}-${name}`;
      const socket = path.join(home, 'db');
      await listening({ path: socket });
      await listening({ path: abstract });
      fs.chmodSync(socket, 0o777);
      const { port } = (await listening({ port: 0, host: '127.0.0.1' })).address() as net.AddressInfo;
      const targets = {
        pid: process.pid,
        files: ['/etc/passwd', '/etc/shadow', '/root/.bash_history', `/proc/${process.pid}/environ`],
        secrets: [secret, path.join(home, 'task', '..', 'token')],
        sockets: [socket, abstract],
        ports: [port],
      };
      const wish = JSON.stringify({ home, targets, ...LIMITS });
      const [program = '', ...args] = [...prefix, process.execPath, '--import', 'tsx', ATTACKED, wish];
      const env = { ...process.env, HOME: home, TMPDIR: home };
      const report = JSON.parse(execFileSync(program, args, { env, encoding: 'utf8', timeout: 60_000 }));
      expect(report).toMatchObject({
        media: 'a film',
        spoiled: 'EROFS',
        rights: Array(5).fill('0000000000000000'),
        noNewRights: '1',
        namespaces: [],
        mounts: false,
        signal: 'ESRCH',
        files: Array(4).fill('ENOENT'),
        secrets: [],
        sockets: ['ENOENT', 'ECONNREFUSED', 'ECONNREFUSED'],
        inherited: [],
        memory: 'EROFS',
        filled: { why: 'ENOSPC' },
        bombed: { why: 'EAGAIN' },
      });
      expect(report.opened.filter((file: string) => !HARMLESS.test(file))).toEqual([]);
      if (uid === 0) expect(report.user).toBeGreaterThan(0);
      else expect(report.user).toBe(uid);
      expect(report.groups).not.toContain(0);
      expect(report.filled.bytes).toBeLessThanOrEqual(LIMITS.writtenBytes);
      expect(report.bombed.processes).toBeLessThan(LIMITS.processes);
      await vi.waitFor(() => expect([...processesIn(home).values()]).toEqual([]), SOON);
      expect(fs.readdirSync(path.join(home, 'task'))).toEqual(['media']);
      expect(fs.readFileSync(path.join(home, 'task/media'), 'utf8')).toBe('a film');
    });
  },
);
