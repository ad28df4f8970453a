import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig, unknownSettings } from '../../src/config.ts';
import { version } from '../../src/lib/own-program.ts';
import { readCommandLine } from '../../src/start/command-line.ts';
import { ROOT } from './processes.ts';

const TOKEN = '7_acceptance-secret';
const isThere = (program: string) => spawnSync('which', [program]).status === 0;
const read = (name: string) => fs.readFileSync(path.join(ROOT, name), 'utf8');

describe('compose files and Dockerfile', () => {
  interface Service {
    image: string;
    command?: string[];
    build?: string;
    environment?: Record<string, string>;
  }
  const ours = ['compose.yaml', 'compose.ci.yaml'].flatMap((file) => {
    const { services } = parse(read(file), { merge: true }) as { services: Record<string, Service> };
    return Object.entries(services)
      .filter(([, { build: built }]) => built !== undefined)
      .map(([name, service]) => ({ name: `${file}, ${name}`, ...service }));
  });

  it('have two APIs, two workers and a migration, and a server for tests', () => {
    const commands = ours.map(({ command = ['serve'] }) => command.join(' '));
    expect(commands.toSorted()).toEqual([
      'migrate',
      'serve',
      ...Array(2).fill('serve --role api'),
      ...Array(2).fill('serve --role worker'),
    ]);
  });

  it.each(ours)('$name is of this release, with a command and settings that exist', (service) => {
    expect(service.image).toBe(`tradewind:${version}`);
    expect(readCommandLine(service.command ?? ['serve'], {})).toHaveProperty('command');
    const settings = withExamples(service.environment ?? {});
    expect(unknownSettings(settings)).toEqual([]);
    expect(() => loadConfig(settings)).not.toThrow();
  });

  it('the image has settings that exist', () => {
    const [, line = ''] = /^ENV (.*)$/m.exec(read('Dockerfile')) ?? [];
    const settings = Object.fromEntries(line.split(' ').map((word) => word.split('=')));
    expect(unknownSettings(settings)).toEqual([]);
    expect(loadConfig(settings)).toMatchObject({ host: '0.0.0.0', port: 8080, workerPort: 8080 });
  });
});

describe.runIf(isThere('systemd-analyze'))('the units of systemd', () => {
  const units = fs.readdirSync(path.join(ROOT, 'deploy/systemd')).filter((name) => name.endsWith('.service'));

  it.each(units)('%s is valid, and has little to attack', (unit) => {
    const analyze = (...words: string[]) =>
      spawnSync('systemd-analyze', words, { cwd: path.join(ROOT, 'deploy/systemd'), encoding: 'utf8' });
    // Node may be elsewhere here.
    const faults = analyze('verify', `./${unit}`)
      .stderr.split('\n')
      .filter((line) => line.startsWith(`./${unit}`) || line.startsWith('/') || /common\.conf/.test(line));
    expect(faults.filter((line) => !line.includes('/usr/bin/node'))).toEqual([]);
    const { status, stdout } = analyze('security', '--offline=true', '--threshold=26', `./${unit}`);
    expect(status, stdout).toBe(0);
  });

  it('have settings that exist', () => {
    const text = [...units, 'tradewind-.service.d/common.conf'].map((name) => read(`deploy/systemd/${name}`));
    const names = text.join('\n').match(/TRADEWIND_\w+/g) ?? [];
    expect(unknownSettings(Object.fromEntries(names.map((name) => [name, ''])))).toEqual([]);
  });
});

it.each(['deploy/ci/action.yml', 'deploy/ci/gitlab.yml'])('%s runs the start for test jobs', (file) => {
  expect(parse(read(file))).toBeInstanceOf(Object);
  expect(read(file)).toContain('start.sh');
  const names = read(file).match(/TRADEWIND_\w+/g) ?? [];
  expect(unknownSettings(Object.fromEntries(names.map((name) => [name, ''])))).toEqual([]);
});

/** Values for what compose takes from `.env`. */
function withExamples(settings: Record<string, string>): Record<string, string> {
  const examples: Record<string, string> = {
    POSTGRES_PASSWORD: 'secret',
    TRADEWIND_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
  };
  const filled = (value: string) =>
    value.replace(/\$\{(\w+):[?-]([^}]*)\}/g, (_all, name: string, value: string) => value || (examples[name] ?? ''));
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, filled(value)]));
}
