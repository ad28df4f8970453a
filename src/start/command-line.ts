import { parseArgs } from 'node:util';
import { settingsHelp } from '../config.ts';
import { closestName } from '../lib/closest-name.ts';
import { columns } from '../lib/columns.ts';
import { version } from '../lib/version.ts';
import type { Command, Options } from './command.ts';
import { commands } from './commands.ts';

/** A command to run, or a text to print: on standard output, or as an error in what was typed. */
export type CommandLine = { command: Command; options: Options } | { print: string } | { fault: string };

const HELP_WORDS = ['help', '--help', '-h'];

/** Parses the words after `tradewind`. */
export function readCommandLine(words: readonly string[]): CommandLine {
  const [first = 'serve', second = ''] = words;
  if (['version', '--version', '-v'].includes(first)) return { print: `tradewind ${version}\n` };
  if (HELP_WORDS.includes(first)) return helpOn(words.slice(1));
  if (HELP_WORDS.includes(second) && groupOf(first).length > 0) return helpOn([first]);
  const name = `${first} ${second}` in commands ? `${first} ${second}` : first;
  const command = commands[name];
  if (!command) return unknown(words);
  try {
    const { help, ...options } = parseArgs({
      args: words.slice(name.split(' ').length),
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
    }).values as Options;
    return help ? { print: usageOf(name, command) } : { command, options };
  } catch (error) {
    return { fault: `${(error as Error).message}\n"tradewind ${name} --help" lists the options.\n` };
  }
}

function helpOn(words: readonly string[]): CommandLine {
  const name = words.slice(0, 2).join(' ');
  if (name === '') return { print: generalHelp() };
  const command = commands[name] ?? commands[words[0] ?? ''];
  if (command) return { print: usageOf(name, command) };
  const group = words.length === 1 ? groupOf(name) : [];
  return group.length > 0
    ? { print: group.map(([each, of]) => usageOf(each, of)).join('\n') }
    : unknown(words);
}

function unknown([first = '', second]: readonly string[]): CommandLine {
  const group = groupOf(first);
  if (group.length > 0) {
    const given =
      second === undefined
        ? `"${first}" is not a complete command`
        : `There is no command "${first} ${second}"`;
    return { fault: `${given}:\n${listOf(group)}\n` };
  }
  const meant = closestName(first, Object.keys(commands));
  const hint =
    meant === undefined ? '"tradewind help" lists all commands' : `Did you mean "tradewind ${meant}"?`;
  return { fault: `There is no command "${first}". ${hint}\n` };
}

/** Returns the commands that begin with the word. */
function groupOf(word: string): [string, Command][] {
  return Object.entries(commands).filter(([name]) => name.startsWith(`${word} `));
}

function usageOf(name: string, { summary, help }: Command): string {
  return `Usage: tradewind ${name} [options]\n\n${summary}\n\n${help}`;
}

function generalHelp(): string {
  return `tradewind - a self-hosted cloud control plane

Usage: tradewind <command> [options]

${listOf(Object.entries(commands))}

Settings come from the environment:
${settingsHelp()}

Run "tradewind <command> --help" for the options of one command, "tradewind --version" for the version.
`;
}

function listOf(entries: [string, Command][]): string {
  return columns(entries.map(([name, { summary }]) => [name, summary]));
}
