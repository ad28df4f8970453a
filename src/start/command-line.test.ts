import { describe, expect, it } from 'vitest';
import { readCommandLine } from './command-line.ts';
import { commands } from './commands.ts';

const read = (line: string) => readCommandLine(line.split(' ').filter(Boolean));
const printed = (line: string) => {
  const answer = read(line);
  return 'print' in answer ? answer.print : expect.fail(`${line} prints nothing`);
};
const fault = (line: string) => {
  const answer = read(line);
  return 'fault' in answer ? answer.fault : expect.fail(`${line} is no fault`);
};

describe('the command line', () => {
  it('runs "serve" when it is empty', () => {
    expect(read('')).toEqual({ command: commands.serve, options: { role: 'all' } });
  });

  it('reads a command of two words and its options', () => {
    expect(read('client pause --client 7')).toEqual({
      command: commands['client pause'],
      options: { client: '7' },
    });
  });

  it('tells the version', () => {
    for (const word of ['--version', '-v', 'version'])
      expect(printed(word)).toMatch(/^tradewind \d+\.\d+\.\d+\n$/);
  });

  it('helps with everything, one command or a group of them', () => {
    for (const name of Object.keys(commands)) {
      expect(printed('help')).toContain(name);
      expect(printed(`help ${name}`)).toContain(`Usage: tradewind ${name} [options]`);
      expect(printed(`${name} --help`)).toBe(printed(`help ${name}`));
    }
    expect(printed('help token')).toContain('--expires TIME');
    expect(printed('token --help')).toBe(printed('help token'));
    expect(printed('client -h')).toMatch(/client pause[\s\S]*client resume/);
  });

  it('keeps the columns apart, however long a name is', () => {
    const settings = printed('help').match(/^ {2}(TRADEWIND|DATABASE)_.*$/gm) ?? [];
    expect(settings.length).toBeGreaterThan(10);
    const second = settings.map((line) => / {2}[A-Z_]+ {2,}/.exec(line)?.[0].length);
    expect(new Set(second).size).toBe(1);
    expect(second[0]).toBeDefined();
  });

  it('says what was meant by a command that there is not', () => {
    expect(fault('serv')).toContain('Did you mean "tradewind serve"?');
    expect(fault('token')).toMatch(/"token" is not a complete command[\s\S]*token create/);
    expect(fault('token make')).toMatch(/no command "token make"[\s\S]*token create/);
    expect(fault('xyz')).toContain('"tradewind help" lists all commands');
    expect(fault('help xyz')).toContain('There is no command "xyz"');
    expect(fault('serve --rolle api')).toMatch(/--rolle[\s\S]*"tradewind serve --help" lists the options/);
  });
});
