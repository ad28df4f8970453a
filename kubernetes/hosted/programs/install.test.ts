import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hasKwok, installedVersions, wholeFolder } from './folders.ts';
import { installVersion } from './install.ts';
import { aboutPrograms, notInstalled } from './installed.ts';

const VERSION = 'v1.34.4';
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';

let folder: string;
let programs: string;
let server: http.Server;
/** What a mirror serves, by path. */
let files: Map<string, Buffer>;
let asked: string[];
/** Ends each answer after so many bytes. */
let cutAt: number;

beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kubernetes-install-'));
  programs = path.join(folder, 'programs');
  files = new Map();
  asked = [];
  cutAt = Number.POSITIVE_INFINITY;
  for (const name of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) {
    const program = Buffer.from(`#!/bin/sh\necho ${name}\n`.padEnd(5_000, '#'));
    files.set(`/release/${VERSION}/bin/linux/${ARCHITECTURE}/${name}`, program);
    files.set(`/release/${VERSION}/bin/linux/${ARCHITECTURE}/${name}.sha256`, Buffer.from(sumOf(program)));
  }
  const base = `etcd-v3.6.8-linux-${ARCHITECTURE}`;
  fs.mkdirSync(path.join(folder, base));
  fs.writeFileSync(path.join(folder, base, 'etcd'), '#!/bin/sh\necho etcd\n');
  spawnSync('tar', ['-czf', 'etcd.tar.gz', base], { cwd: folder });
  const archive = fs.readFileSync(path.join(folder, 'etcd.tar.gz'));
  files.set(`/etcd/v3.6.8/${base}.tar.gz`, archive);
  const sums = `${'0'.repeat(64)}  other.zip\n${sumOf(archive)}  ${base}.tar.gz\n`;
  files.set('/etcd/v3.6.8/SHA256SUMS', Buffer.from(sums));
  server = http.createServer((request, response) => {
    const { url = '', headers } = request;
    const file = files.get(url);
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    asked.push(from === 0 ? url : `${url} from ${from}`);
    if (!file) return response.writeHead(404).end();
    if (from >= file.length) return response.writeHead(416).end();
    const whole = file.subarray(from);
    response.writeHead(from === 0 ? 200 : 206, { 'content-length': whole.length });
    if (whole.length <= cutAt) return response.end(whole);
    // What has not been read when a connection breaks is lost.
    return response.write(whole.subarray(0, cutAt), () => setTimeout(() => response.destroy(), 50));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  fs.rmSync(folder, { recursive: true });
});

const sumOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const urlOf = () => `http://127.0.0.1:${(server.address() as { port: number }).port}`;

/** Returns what was said. */
async function install(kwok?: string, from?: string, into = programs): Promise<string[]> {
  const url = urlOf();
  const sources = { kubernetesUrl: `${url}/release`, etcdUrl: `${url}/etcd`, kwok, from };
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  await installVersion(VERSION, into, sources, { say, signal: new AbortController().signal });
  return said;
}

/** Installs on a machine with internet, kwok as well, and cuts that off. */
async function elsewhere(): Promise<string> {
  const kwok = path.join(folder, 'kwok');
  fs.writeFileSync(kwok, '#!/bin/sh\necho kwok\n', { mode: 0o755 });
  const other = path.join(folder, 'other');
  await install(kwok, undefined, other);
  asked = [];
  return other;
}

it('installs every program, and nothing a second time', async () => {
  expect(installedVersions(programs)).toEqual([]);
  await install();
  expect(installedVersions(programs)).toEqual([VERSION]);
  expect(fs.readdirSync(programs)).toEqual(['.lock', VERSION]);
  for (const name of ['etcd', 'kube-apiserver']) {
    const { stdout } = spawnSync(path.join(programs, VERSION, name), { encoding: 'utf8' });
    expect(stdout).toBe(`${name}\n`);
  }
  const before = asked.length;
  await install();
  expect(asked).toHaveLength(before);
});

it('goes on where it was interrupted, and offers nothing before all is there', async () => {
  cutAt = 2_000;
  for (let count = 0; count < 100 && !installedVersions(programs).includes(VERSION); count++) {
    await install().catch(() => {});
    const drafts = fs.existsSync(programs) ? fs.readdirSync(programs) : [];
    if (drafts.includes(VERSION)) break;
    expect(installedVersions(programs)).toEqual([]);
  }
  expect(installedVersions(programs)).toEqual([VERSION]);
  // A connection that breaks before its first byte is asked for again.
  expect(asked.some((each) => each.endsWith('kube-scheduler from 2000'))).toBe(true);
});

it('takes nothing that an interrupted attempt may have left in parts', async () => {
  const draft = path.join(programs, `.${VERSION}.draft`);
  fs.mkdirSync(draft, { recursive: true });
  for (const name of ['etcd', 'kube-apiserver']) fs.writeFileSync(path.join(draft, name), '#!/bin/sh\nech');
  fs.writeFileSync(path.join(draft, 'etcd-v3.5.0.tar.gz.part'), 'of an earlier release');
  await install();
  for (const name of ['etcd', 'kube-apiserver']) {
    const { stdout } = spawnSync(path.join(programs, VERSION, name), { encoding: 'utf8' });
    expect(stdout).toBe(`${name}\n`);
  }
  expect(fs.readdirSync(path.join(programs, VERSION)).sort()).toEqual([
    'SHA256SUMS',
    'etcd',
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
  ]);
});

it('is done once at a time, and asks for kwok before it begins', async () => {
  const [one, other] = await Promise.allSettled([install(), install()]);
  expect(one.status).toBe('fulfilled');
  expect(other).toMatchObject({ reason: { message: expect.stringContaining('is going on') } });
  asked = [];
  await expect(install(path.join(folder, 'no-kwok'))).rejects.toThrow(/no-kwok/);
  expect(asked).toEqual([]);
});

it('keeps nothing that has another checksum, and says which', async () => {
  const scheduler = `/release/${VERSION}/bin/linux/${ARCHITECTURE}/kube-scheduler`;
  const right = files.get(scheduler) ?? Buffer.alloc(0);
  files.set(scheduler, Buffer.from('#!/bin/sh\necho evil\n'));
  await expect(install()).rejects.toThrow(/kube-scheduler has the checksum .* nothing of it was kept/);
  expect(installedVersions(programs)).toEqual([]);
  files.set(scheduler, right);
  await install();
  expect(wholeFolder(path.join(programs, VERSION))).toBe(true);
});

it('says what kwok is, and where to get it, when there is none', async () => {
  const said = (await install()).join('\n');
  expect(said).toMatch(/kwok plays the nodes: .*"go install sigs\.k8s\.io\/kwok\/cmd\/kwok@v.*--kwok FILE/);
});

it.each(['', VERSION])('takes everything from a folder, and asks no server (%j)', async (below) => {
  const other = await elsewhere();
  const said = await install(undefined, path.join(other, below));
  expect(asked).toEqual([]);
  expect(said.join('\n')).not.toContain('plays the nodes');
  const there = path.join(programs, VERSION);
  expect([wholeFolder(there), hasKwok(there)]).toEqual([true, true]);
});

it('holds the programs of a folder against its checksums, and says if there are none', async () => {
  const other = path.join(await elsewhere(), VERSION);
  fs.writeFileSync(path.join(other, 'kube-scheduler'), '#!/bin/sh\necho evil\n');
  await expect(install(undefined, other)).rejects.toThrow(/kube-scheduler has the checksum .* nothing of it was kept/);
  expect(installedVersions(programs)).toEqual([]);
  fs.rmSync(path.join(other, 'SHA256SUMS'));
  expect(await install(undefined, other)).toContain(
    `${other} has no SHA256SUMS, so its programs are taken as they are.`,
  );
  expect(installedVersions(programs)).toEqual([VERSION]);
});

it('names the programs that a folder lacks', async () => {
  await expect(install(undefined, folder)).rejects.toThrow(/Neither .*v1\.34\.4 nor .* has etcd, kube-api/);
});

it('takes everything from an address like such a folder, never without a checksum', async () => {
  const other = path.join(await elsewhere(), VERSION);
  for (const name of fs.readdirSync(other))
    files.set(`/mirror/${VERSION}/${name}`, fs.readFileSync(path.join(other, name)));
  const sums = files.get(`/mirror/${VERSION}/SHA256SUMS`) ?? Buffer.alloc(0);
  files.set(`/mirror/${VERSION}/SHA256SUMS`, Buffer.from(String(sums).replace(/^.* etcd\n/m, '')));
  await expect(install(undefined, `${urlOf()}/mirror`)).rejects.toThrow('has no SHA-256 of etcd');
  files.set(`/mirror/${VERSION}/SHA256SUMS`, sums);
  asked = [];
  await install(undefined, `${urlOf()}/mirror/`);
  expect(asked.every((each) => each.startsWith('/mirror/'))).toBe(true);
  expect(hasKwok(path.join(programs, VERSION))).toBe(true);
});

it('names what a mirror does not have', async () => {
  files.delete('/etcd/v3.6.8/SHA256SUMS');
  await expect(install()).rejects.toThrow(/SHA256SUMS answers 404/);
});

it('mends a damaged folder, and adds kwok to one that is there', async () => {
  await install();
  const there = path.join(programs, VERSION);
  fs.appendFileSync(path.join(there, 'kube-apiserver'), 'echo more');
  expect(wholeFolder(there)).toBe(false);
  await install();
  expect(wholeFolder(there)).toBe(true);
  expect(aboutPrograms(programs)).toContain(`${VERSION} (without kwok, so without nodes)`);
  const kwok = path.join(folder, 'kwok');
  fs.writeFileSync(kwok, '#!/bin/sh\n');
  await install(kwok);
  expect([hasKwok(there), wholeFolder(there)]).toEqual([true, true]);
  expect(aboutPrograms(programs)).toBe(`Kubernetes ${VERSION} in ${programs}`);
});

it('says what to do for a version that is not there', async () => {
  const command = '"npx tradewind kubernetes install --version v1.35.1"';
  expect(notInstalled(programs, 'v1.35.1')).toBe(
    `No version of Kubernetes is installed in ${programs}; run ${command}.`,
  );
  await install();
  expect(notInstalled(programs, 'v1.35.1')).toBe(
    `Kubernetes v1.35.1 isn't installed here. Choose one of ${VERSION}, or have the operator run ${command}.`,
  );
});
