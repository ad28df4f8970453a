import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHttpClient } from '../support/http-client.ts';
import { build, environment, ROOT, temporaryFolder } from './processes.ts';

/** Only root may mount, in a namespace of its own. */
const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
const TOKEN = '7_full-disk-secret';
const PORT = '18733';
const WAIT = { timeout: 60_000, interval: 200 };

describe.runIf(canMount)('a full disk', () => {
  const folder = temporaryFolder();
  const settings = { TRADEWIND_DATA_DIR: `${folder}/data`, TRADEWIND_PORT: PORT, TRADEWIND_BOOTSTRAP_TOKEN: TOKEN };
  const http = createHttpClient(`http://127.0.0.1:${PORT}`, TOKEN);
  let server: ReturnType<typeof spawn>;
  const onDisk = (command: string, ...args: string[]) =>
    execFileSync('nsenter', ['--target', String(server.pid), '--mount', command, ...args], { stdio: 'pipe' });
  const ready = async () => (await http.get('/readyz')).body;

  beforeAll(() => {
    build();
    const mounted = 'mount -t tmpfs -o size=260m,mode=0777 tmpfs "$0" && exec node dist/src/main.js serve';
    server = spawn('unshare', ['--mount', 'sh', '-c', mounted, folder], {
      cwd: ROOT,
      env: environment(settings),
      stdio: 'ignore',
    });
  });
  afterAll(async () => {
    server.kill();
    await once(server, 'exit');
    fs.rmSync(folder, { recursive: true });
  });

  it('is told from a database that does not answer, and what was accepted is there when there is room again', async () => {
    await vi.waitFor(async () => expect((await ready()).status).toBe('ready'), WAIT);
    const made: string[] = [];
    const make = async (at: number) => {
      const answer = await http.post('/cloud/v1/securitygroups/1/1', {
        security_group: { name: `group-${at}` },
      });
      if (answer.status < 300) made.push(answer.body.id);
      return answer;
    };
    await make(0);
    // It ends by having no room.
    expect(() => onDisk('dd', 'if=/dev/zero', `of=${folder}/filling`, 'bs=64k')).toThrow('No space left');
    let refused = await make(1);
    for (let at = 2; refused.status < 300 && at < 5_000; at++) refused = await make(at);
    expect(refused.text).toContain('The disk of the database is full');
    const state = await ready();
    expect(state).toMatchObject({ status: 'ready', problems: {} });
    expect(state.degraded.disk).toContain('nothing can be changed');
    expect((await http.get(`/cloud/v1/securitygroups/1/1/${made[0]}`)).status).toBe(200);

    onDisk('rm', `${folder}/filling`);
    await vi.waitFor(async () => expect((await make(9_999)).status).toBe(200), WAIT);
    for (const id of made) expect((await http.get(`/cloud/v1/securitygroups/1/1/${id}`)).status).toBe(200);
  });
});
