import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { build, environment, ROOT, type ServeProcess, serve, temporaryFolder } from '../acceptance/processes.ts';
import { createOperationLog, record } from '../support/clients.ts';
import { needs } from '../support/engines.ts';
import { createHttpClient, type HttpClient, SOON } from '../support/http-client.ts';
import { reservePort } from '../support/ports.ts';

const TOKEN = '7_acceptance-secret';
const PASSWORD = 'many small green apples';
const folder = temporaryFolder();
const mediaPort = await reservePort();
const settings = {
  TRADEWIND_DATA_DIR: path.join(folder, 'data'),
  TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
  TRADEWIND_SIMULATION_SPEED: '20',
  TRADEWIND_LOG_FORMAT: 'json',
  TRADEWIND_AI_CONCURRENCY: '1',
  TRADEWIND_MEDIA_ALLOW_HOSTS: `127.0.0.1:${mediaPort}`,
};

let service: ServeProcess;
let http: HttpClient;
beforeAll(async () => {
  build();
  service = await serve(settings);
  http = createHttpClient(service.url, TOKEN);
});
afterAll(async () => {
  await service.end();
  fs.rmSync(folder, { recursive: true });
});

/** All fenced blocks of all documents but the one for accounts of suites, which acceptance/deploy.test.ts runs. */
const blocks = ['.', 'docs', 'docs/adr', 'docs/contributing', 'docs/reference', 'bench', 'examples/typescript']
  .flatMap((at) => fs.readdirSync(path.join(ROOT, at)).map((name) => path.join(ROOT, at, name)))
  .filter((file) => file.endsWith('.md'))
  .flatMap((file) => [...fs.readFileSync(file, 'utf8').matchAll(/^```\w*\n(.*?)^```/gms)])
  .map(([, text = '']) => text)
  .filter((text) => !text.includes('suite 1'));

function block(part: string): string {
  return blocks.find((text) => text.includes(part)) ?? expect.fail(`No document has commands with ${part}`);
}

const told = {
  firstCall: block('Tradewind is ready'),
  cluster: block('"name": "demo"'),
  kubeconfig: block('demo/config'),
  events: block('tradewind/v1/events'),
  login: block('jwt/login'),
  change: block('scan-interval'),
  removal: block('-X DELETE'),
  machine: block('INSTANCE='),
  speech: block('subtitles.vtt'),
  failure: block('simulate-failure'),
};

/**
 * Runs the blocks as if pasted into a shell with the variables of the quick start's first line, and returns
 * their output.
 */
async function run(script: string): Promise<string> {
  const shell = spawn('sh', ['-s'], {
    cwd: ROOT,
    // A separate process group, for what it leaves in the background.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: environment(settings),
  });
  shell.stdin.end(
    [
      `T='Authorization: apikey ${TOKEN}' J='Content-Type: application/json' H=${service.url}`,
      ...script.split('\n').filter((line) => !line.startsWith('T=')),
    ].join('\n'),
  );
  let printed = '';
  shell.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const closed = once(shell, 'close');
  shell.once('exit', () => {
    try {
      process.kill(-(shell.pid ?? 0), 'SIGKILL');
    } catch {
      // It left nothing.
    }
  });
  await closed;
  return printed;
}

describe('what the documents tell to type works', () => {
  it('the first call', async () => {
    const call = /^curl .*$/m.exec(told.firstCall)?.[0] ?? '';
    const script = call.replace('1000_3f…', TOKEN).replace('http://127.0.0.1:8080', service.url);
    expect(JSON.parse(await run(script))).toMatchObject({ count: 1, results: [{ is_default: true }] });
  });

  it('the first task', async () => {
    const printed = await run(told.cluster);
    expect(printed).toContain('"state":"FINISHED"');
    expect(printed).not.toMatch(/"exception_class"|"message"/);
  });

  it('the kubeconfig, with which acceptance/hosted.slow.test.ts goes on where the cluster is real', async () => {
    const [line = ''] = told.kubeconfig.split('\n');
    expect(await run(line.replace(/ > \S+$/, ''))).toMatch(/^apiVersion: v1$/m);
  });

  it('a stream of events', async () => {
    // It never ends by itself.
    const printed = await run(told.events.replace('curl ', 'curl --max-time 2 '));
    expect(printed).toContain('event: tradewind.task.finished');
  });

  it('the quick start', async () => {
    const printed = await run(told.change);
    expect(printed).toContain('"scan-interval":"20s"');
    expect(printed).not.toMatch(/"exception_class"|"message"/);
  });

  it('a machine in a network of its own', async () => {
    const printed = await run(told.machine);
    expect(JSON.parse(printed)).toMatchObject({ count: 1, results: [{ security_groups: [{}] }] });
  });

  it('the example of the reference for an update, as far as the cluster of the quick start can have it', async () => {
    const { body: document } = await http.get('/openapi.json');
    const { patch } = document.paths['/cloud/v1/k8s/clusters/{project_id}/{region_id}/{cluster_name}'];
    // It shows all groups: this cluster is too new for Slurm, and its networking is not Cilium.
    const { add_ons, cni, ...example } = patch.requestBody.content['application/json'].example;
    expect([add_ons, cni]).not.toContain(undefined);
    const { status, body, text } = await http.patch('/cloud/v1/k8s/clusters/1/1/demo', example);
    expect(status, text).toBe(200);
    expect(await http.task(body[0])).toMatchObject({ state: 'FINISHED' });
  });

  it('a task that fails', async () => {
    const before = await http.get('/cloud/v1/k8s/clusters/1/1/demo');
    const printed = await run(told.failure);
    expect(await http.task(JSON.parse(printed)[0])).toMatchObject({ state: 'ERROR' });
    expect((await http.get('/cloud/v1/k8s/clusters/1/1/demo')).body).toEqual(before.body);
  });

  it('the removal of the cluster', async () => {
    const printed = await run(told.removal);
    expect(await http.task(JSON.parse(printed)[0])).toMatchObject({ state: 'FINISHED' });
  });

  it('a login', async () => {
    const script = told.login
      .replace('npx tradewind', `printf '%s\\n' '${PASSWORD}' | npx tradewind`)
      .replace('"..."', `"${PASSWORD}"`);
    expect(await run(script)).toMatch(/"access":"eyJ/);
  });

  describe('with engines', needs('speech', 'flite'), () => {
    it('an AI task', async () => {
      const script = told.speech.replaceAll('/tmp/media', folder).replaceAll('9009', String(mediaPort));
      const printed = await run(script);
      expect(printed).toMatch(/"status":"SUCCESS"/);
      expect(printed).toMatch(/^WEBVTT\n[\s\S]* meeting today/m);
    });

    it('all of which docs/reference/compatibility.md counts', async () => {
      // A request is logged once its answer has gone out, so that a client may be ahead of the log.
      await vi.waitFor(() => expect(service.stderr()).toContain('subtitles.vtt'), SOON);
      const operations = await createOperationLog();
      for (const line of service.stderr().match(/^{.*}$/gm) ?? []) operations.read(line);
      const [, version = ''] = spawnSync('curl', ['--version'], { encoding: 'utf8' }).stdout.split(' ');
      const calls =
        Object.values(told)
          .join('')
          .match(/\bcurl /g) ?? [];
      record('curl', {
        client: 'curl',
        seen: version,
        passed: `the ${calls.length} lines with curl of all documents, in \`sh\``,
        operations: operations.take(),
      });
    });
  });

  it('nothing else tells to type curl', () => {
    const typed = blocks.filter((text) => text.includes('curl '));
    expect(typed.toSorted()).toEqual(Object.values(told).toSorted());
  });
});
