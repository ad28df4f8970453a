import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** The block of commands in a document that has the text in it. */
function commands(document: string, part: string): string {
  const blocks = fs.readFileSync(document, 'utf8').matchAll(/```sh\n(.*?)```/gs);
  const found = [...blocks].map(([, text = '']) => text).find((text) => text.includes(part));
  return found ?? expect.fail(`${document} has no commands with ${part}`);
}

/** Runs them as pasted into a shell that knows what the first line of the quick start sets, and answers what they print. */
async function run(script: string): Promise<string> {
  const shell = spawn('sh', ['-s'], { stdio: ['pipe', 'pipe', 'ignore'] });
  shell.stdin.end(
    [
      `T='Authorization: apikey ${service.http.token}' J='Content-Type: application/json' H=${service.url}`,
      ...script.split('\n').filter((line) => !line.startsWith('T=')),
    ].join('\n'),
  );
  let printed = '';
  shell.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await once(shell, 'close');
  return printed;
}

describe('what the documents tell to type works', () => {
  it('the quick start', async () => {
    const printed = await run(commands('README.md', '"name": "demo"'));
    expect(printed).toContain('"state":"FINISHED"');
    expect(printed).toContain('"scan-interval":"20s"');
    expect(printed).not.toMatch(/"exception_class"|"message"/);
  });

  it('a machine in a network of its own', async () => {
    const printed = await run(commands('README.md', 'INSTANCE='));
    expect(JSON.parse(printed)).toMatchObject({ count: 1, results: [{ security_groups: [{}] }] });
  });

  it('the example of the reference for an update, on the cluster of the quick start', async () => {
    const { body: document } = await service.anonymous.get('/openapi.json');
    const { patch } = document.paths['/cloud/v1/k8s/clusters/{project_id}/{region_id}/{cluster_name}'];
    const { example } = patch.requestBody.content['application/json'];
    const { status, body, text } = await service.http.patch('/cloud/v1/k8s/clusters/1/1/demo', example);
    expect(status, text).toBe(200);
    expect(await service.http.task(body[0])).toMatchObject({ state: 'FINISHED' });
  });

  it('a task that fails', async () => {
    const before = await service.http.get('/cloud/v1/k8s/clusters/1/1/demo');
    const printed = await run(commands('docs/simulation.md', 'simulate-failure'));
    expect(await service.http.task(JSON.parse(printed)[0])).toMatchObject({ state: 'ERROR' });
    expect((await service.http.get('/cloud/v1/k8s/clusters/1/1/demo')).body).toEqual(before.body);
  });
});
