import { CommanderError } from 'commander';
import { CommandError, EXIT } from './errors.ts';
import { buildProgram, type ClientParts } from './program.ts';
import type { Terminal } from './terminal/terminal.ts';

export { processTerminal } from './terminal/process-terminal.ts';

/** Runs the command of the words after `tradewind`. Returns the exit code. */
export async function runClient(words: readonly string[], parts: ClientParts): Promise<number> {
  const [first, ...rest] = words;
  try {
    const asked = first === 'help' ? [...rest, '--help'] : words;
    const program = buildProgram(parts, asked);
    const [name = '-'] = asked;
    // Commander would show the help of the whole, as if there were such a command.
    const isUnknown = !name.startsWith('-') && !program.commands.some((each) => each.name() === name);
    await program.parseAsync(isUnknown ? [name] : [...asked], { from: 'user' });
    return EXIT.done;
  } catch (error) {
    return exitCodeOf(error, parts.terminal, words.includes('--json'));
  }
}

function exitCodeOf(error: unknown, { err, stop }: Terminal, json: boolean): number {
  // It has said what is wrong.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (stop.aborted) return EXIT.interrupted;
  if (!(error instanceof CommandError)) throw error;
  const answered = json && error.problem !== undefined;
  err(`${answered ? JSON.stringify(error.problem) : error.message}\n`);
  return error.exitCode;
}
