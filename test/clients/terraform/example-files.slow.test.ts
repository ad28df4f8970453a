import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { filesOf } from './tofu.ts';

/** What can be said of the modules of examples/terraform without a provider. */
const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples/terraform');
const textOf = (name: string) =>
  filesOf(path.join(EXAMPLES, name))
    .map((file) => fs.readFileSync(file, 'utf8'))
    .join('');
const matches = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, found = '']) => found))].toSorted();

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { role: 'api' });
});
afterAll(() => service?.stop());

describe.each(['classic', 'v2'])('the %s module', (name) => {
  const text = textOf(name);

  it('is formatted as `tofu fmt` does', () => {
    for (const file of filesOf(path.join(EXAMPLES, name))) {
      let depth = 0;
      for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
        const code = line.replace(/"(?:[^"\\]|\\.)*"/g, '').replace(/#.*/, '');
        const opened = code.match(/[{[(]/g)?.length ?? 0;
        const closed = code.match(/[}\])]/g)?.length ?? 0;
        const first = /^[}\])]/.test(line.trim()) ? 1 : 0;
        const wanted = line === '' ? '' : '  '.repeat(depth - first) + line.trim();
        expect(line, file).toBe(wanted);
        depth += Math.sign(opened - closed);
      }
      expect(depth, file).toBe(0);
    }
  });

  it('declares what it uses, and nothing else', () => {
    const declared = matches(text, /^variable "(\w+)"/gm);
    expect(declared).toEqual(matches(text, /\bvar\.(\w+)/g));
    const made = matches(text, /^(?:resource|data) "(\w+" "\w+)"/gm).map((each) => each.replace('" "', '.'));
    const used = matches(text, /\b(gcore_\w+\.\w+)/g);
    expect(used.filter((each) => !made.includes(each))).toEqual([]);
  });

  it('asks for what the shipped catalogue has', async () => {
    const of = async (url: string, key: string): Promise<unknown[]> => {
      const { status, body, text: answer } = await service.http.get(url);
      expect(status, answer).toBe(200);
      return (body.results ?? body).map((each: Record<string, unknown>) => each[key]);
    };
    const flavors = [
      ...(await of('/cloud/v1/flavors/1/1', 'flavor_id')),
      ...(await of('/cloud/v1/lbflavors/1/1', 'flavor_id')),
    ];
    const named = matches(text, /"((?:g\d|lb\d|bm\d)-[\w-]+)"/g);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((each) => !flavors.includes(each))).toEqual([]);

    const images = [...(await of('/cloud/v1/images/1/1', 'name')), ...(await of('/cloud/v1/images/1/1', 'id'))];
    const image = matches(text, /"(debian-[\w-]+|[0-9a-f]{8}-[0-9a-f-]{27})"/g);
    expect(image).toHaveLength(1);
    expect(images).toContain(image[0]);

    const versions = await of('/cloud/v2/k8s/1/1/create_versions', 'version');
    const [version] = matches(text, /"(v1\.\d+\.\d+)"/g);
    expect(versions).toContain(version);

    const region = (await service.http.get('/cloud/v1/regions/1?show_volume_types=true')).body;
    for (const type of matches(text, /(?:boot_volume_type|type_name) += "(\w+)"/g))
      expect([...region.available_volume_types, ...region.file_share_types]).toContain(type);

    const templates = (await service.http.get('/cloud/v1/ddos/profile-templates/1')).body.results;
    const [template] = matches(text, /profile_template = (\d+)/g);
    if (template !== undefined) {
      const { fields } = templates.find(({ id }: { id: number }) => String(id) === template);
      const given = matches(text, /base_field += (\d+)/g);
      expect(given).toEqual(fields.map(({ id }: { id: number }) => String(id)));
    }
  });
});

it('both say the same, and the README shows both', () => {
  const outputs = (name: string) => matches(textOf(name), /^output "(\w+)"/gm);
  expect(outputs('v2')).toEqual(outputs('classic'));
  const readme = fs.readFileSync(path.join(EXAMPLES, 'README.md'), 'utf8');
  for (const name of ['classic', 'v2']) {
    expect(readme).toContain(`cd examples/terraform/${name} && tofu init`);
    const [version = ''] = matches(textOf(name), /version = "(?:~> )?([^"]+)"/g);
    expect(readme).toContain(name === 'classic' ? version.slice(0, version.lastIndexOf('.')) : version);
  }
});
