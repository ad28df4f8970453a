import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findProgram } from '../../../engines/programs.ts';
import { findSandbox, type Sandbox } from './sandbox.ts';

const searchPath = '/usr/bin:/bin';

test('without bubblewrap it is said what to install', async () => {
  expect(await findSandbox({ searchPath: '/nowhere', reads: [] })).toEqual({
    missing: expect.stringContaining('npm run install:engines'),
  });
});

test('a bubblewrap that fails is none', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-bwrap-'));
  const refusing = '#!/bin/sh\necho "bwrap: No permissions to create a new namespace" >&2\nexit 1\n';
  fs.writeFileSync(path.join(folder, 'bwrap'), refusing, { mode: 0o755 });
  expect(await findSandbox({ searchPath: folder, reads: [] })).toEqual({
    missing: "bubblewrap doesn't work on this system: bwrap: No permissions to create a new namespace",
  });
  fs.rmSync(folder, { recursive: true });
});

describe.skipIf(!findProgram('bwrap', searchPath))('in the sandbox', () => {
  let sandbox: Sandbox;
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-shut-'));
  const own = path.join(root, 'task');
  beforeAll(async () => {
    fs.mkdirSync(own);
    fs.writeFileSync(path.join(root, 'secret'), 'a token');
    const found = await findSandbox({ searchPath, reads: [process.execPath] });
    if ('missing' in found) throw new Error(found.missing);
    sandbox = found.found;
  });
  afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

  /** What a program says there, or its complaint. */
  function said(script: string): string {
    const [program, ...args] = sandbox.around([process.execPath, '-e', script], own);
    return execFileSync(program, args, { encoding: 'utf8', cwd: own, env: { PATH: searchPath } }).trim();
  }
  const attempt = (expression: string) =>
    said(`try { console.log(${expression}) } catch (error) { console.log(error.code) }`);

  test('a program sees its folder and may write there only', () => {
    expect(attempt(`require('fs').writeFileSync('made', 'x') ?? process.cwd()`)).toBe(own);
    expect(fs.readFileSync(path.join(own, 'made'), 'utf8')).toBe('x');
    expect(attempt(`require('fs').readFileSync('${root}/secret', 'utf8')`)).toBe('ENOENT');
    expect(attempt(`require('fs').readFileSync('/etc/passwd', 'utf8')`)).toBe('ENOENT');
    expect(attempt(`require('fs').writeFileSync('/usr/made', 'x')`)).toBe('EROFS');
  });

  test('it sees no process but its own', () => {
    expect(attempt(`require('fs').readdirSync('/proc').filter(Number).length < 4`)).toBe('true');
    expect(attempt(`process.kill(${process.pid}, 0)`)).toBe('ESRCH');
  });

  test('it reaches no server, by network or socket', async () => {
    const socket = path.join(root, 'database');
    const onNetwork = net.createServer().listen(0, '127.0.0.1');
    const onSocket = net.createServer().listen(socket);
    await Promise.all([once(onNetwork, 'listening'), once(onSocket, 'listening')]);
    const { port } = onNetwork.address() as net.AddressInfo;
    const answers = [`{ port: ${port}, host: '127.0.0.1' }`, `{ path: '${socket}' }`].map((to) =>
      said(
        `require('net').connect(${to}, () => console.log('reached')).on('error', (e) => console.log(e.code))`,
      ),
    );
    expect(answers).toEqual(['ECONNREFUSED', 'ENOENT']);
    for (const server of [onNetwork, onSocket]) server.close();
  });
});
