import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config.ts';
import { ownCommands, readCommandLine } from './command-line.ts';
import { commands } from './commands.ts';

const read = (line: string, environment = {}) => readCommandLine(line.split(' ').filter(Boolean), environment);
const printed = (line: string) => {
  const answer = read(line);
  return answer && 'print' in answer ? answer.print : expect.fail(`${line} prints nothing`);
};
const fault = (line: string) => {
  const answer = read(line);
  return answer && 'fault' in answer ? answer.fault : expect.fail(`${line} is no fault`);
};

describe('the commands on this machine', () => {
  it('are "serve" when nothing else is typed', () => {
    expect(read('')).toEqual({ command: commands.serve, options: { role: 'all' } });
  });

  it('may have two words and options', () => {
    expect(read('client pause --client 7')).toEqual({
      command: commands['client pause'],
      options: { client: '7' },
    });
    expect(read('orphans list --json')).toMatchObject({ options: { json: true } });
  });

  it('tell the version', () => {
    for (const word of ['--version', '-v', 'version']) expect(printed(word)).toMatch(/^tradewind \d+\.\d+\.\d+\n$/);
  });

  it('have help', () => {
    for (const { name, usage } of ownCommands()) {
      expect(usage).toMatch(new RegExp(`^Usage: tradewind ${name} (<\\w+> )?\\[options\\]\n`));
      expect(printed(`${name} --help`)).toBe(usage);
    }
    expect(printed('help client pause')).toBe(printed('client pause -h'));
    expect(printed('token create --help')).toContain('--expires TIME');
  });

  it('list the versions of Kubernetes that can be installed, where none is named', async () => {
    const config = loadConfig({ TRADEWIND_KUBERNETES_DIR: '/nowhere' });
    const ran = commands['kubernetes install']?.run({ config, options: {}, stop: AbortSignal.abort() });
    await expect(ran).rejects.toThrow(/The catalogue offers v1\.31\.13, .*v1\.34\.4.*; installed: none\.$/);
    expect(printed('kubernetes install --help')).toMatch(/--from WHERE[\s\S]*kwok plays the nodes/);
  });

  it('say what is wrong with their options', () => {
    expect(fault('serve --rolle api')).toMatch(/--rolle[\s\S]*"tradewind serve --help" lists the options/);
    expect(fault('migrate now')).toContain('"tradewind migrate --help"');
  });

  it('may need a word', () => {
    expect(read('region use hosted --region 2')).toEqual({
      command: commands['region use'],
      options: { backend: 'hosted', region: '2' },
    });
    for (const line of ['region use', 'region use hosted simulated'])
      expect(fault(line)).toContain('Usage: tradewind region use <backend> [options]');
  });

  it('leave all else to the commands that ask a server', () => {
    for (const line of [
      'help',
      '--help',
      'help client',
      'client',
      'client list',
      'region list',
      'serv',
      'help token create',
    ])
      expect(read(line), line).toBeUndefined();
  });

  it('make a token on the database, unless there is one for a server', () => {
    expect(read('token create')).toHaveProperty('command', commands['token create']);
    expect(read('token create', { TRADEWIND_TOKEN: '', TRADEWIND_URL: 'x' })).toHaveProperty('command');
    expect(read('token create --url http://x')).toBeUndefined();
    expect(read('token create --token-file=t')).toBeUndefined();
    for (const name of ['TRADEWIND_TOKEN', 'TRADEWIND_TOKEN_FILE'])
      expect(read('token create', { [name]: 'x' }), name).toBeUndefined();
    expect(read('client pause --client 1', { TRADEWIND_TOKEN: 'x' })).toHaveProperty('command');
  });
});
