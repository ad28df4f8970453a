import { parseArgs } from 'node:util';
import { version } from '../lib/own-program.ts';
import type { Command, Options } from './command.ts';
import { commands } from './commands.ts';

/** A command to run, or a text to print: on standard output, or as an error in what was typed. */
export type CommandLine = { command: Command; options: Options } | { print: string } | { fault: string };

/** Settings and options that name a server to ask. */
const ASKS_SERVER = ['TRADEWIND_TOKEN', 'TRADEWIND_TOKEN_FILE'];
const SERVER_OPTIONS = /^--(url|token-file)(=|$)/;

/**
 * Parses the words after `tradewind`. Returns undefined if they are no command on this machine: then they are for the
 * command line of a server, which also has the general help.
 */
export function readCommandLine(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): CommandLine | undefined {
  const [first = 'serve', second = ''] = words;
  if (['version', '--version', '-v'].includes(first)) return { print: `tradewind ${version}\n` };
  if (first === 'help') return helpOn(words.slice(1));
  const name = `${first} ${second}` in commands ? `${first} ${second}` : first;
  const command = commands[name];
  if (!command || (command.asksServer && asksServer(words, environment))) return undefined;
  try {
    const { argument } = command;
    const { values, positionals } = parseArgs({
      args: words.slice(name.split(' ').length),
      options: { ...optionsOf(command), help: { type: 'boolean', short: 'h' } },
      allowPositionals: argument !== undefined,
    });
    const { help, ...options } = values as Options;
    if (help) return { print: usageOf(name, command) };
    if (argument === undefined) return { command, options };
    if (positionals.length !== 1) return { fault: usageOf(name, command) };
    return { command, options: { ...options, [argument]: positionals[0] } };
  } catch (error) {
    return { fault: `${(error as Error).message}\n"tradewind ${name} --help" lists the options.\n` };
  }
}

/** Returns what the general help and completion say of the commands on this machine. */
export const ownCommands = () =>
  Object.entries(commands).map(([name, command]) => ({
    name,
    summary: command.summary,
    usage: usageOf(name, command),
    options: Object.keys(optionsOf(command)),
  }));

function helpOn(words: readonly string[]): CommandLine | undefined {
  const name = words.slice(0, 2).join(' ');
  const command = commands[name];
  return command && !command.asksServer ? { print: usageOf(name, command) } : undefined;
}

function asksServer(words: readonly string[], environment: Readonly<Record<string, string | undefined>>): boolean {
  return ASKS_SERVER.some((name) => environment[name]) || words.some((word) => SERVER_OPTIONS.test(word));
}

const optionsOf = ({ options, json }: Command): Command['options'] => ({
  ...options,
  ...(json && { json: { type: 'boolean' } }),
});

function usageOf(name: string, { summary, help, json, argument }: Command): string {
  const word = argument === undefined ? '' : `<${argument}> `;
  const asJson = json ? '  --json   print JSON\n' : '';
  return `Usage: tradewind ${name} ${word}[options]\n\n${summary}\n\n${help}${asJson}`;
}
