import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import type { Terminal } from './terminal.ts';

/** The terminal that this process has. */
export function processTerminal(
  environment: Readonly<Record<string, string | undefined>>,
  stop: AbortSignal,
): Terminal {
  const { stdin, stdout, stderr } = process;
  return {
    out: (part) => void stdout.write(part),
    err: (part) => void stderr.write(part),
    width: stdout.isTTY ? stdout.columns : undefined,
    showsProgress: stderr.isTTY === true,
    async ask(question) {
      if (!stdin.isTTY || !stderr.isTTY) return undefined;
      const lines = createInterface({ input: stdin, output: stderr });
      try {
        return await lines.question(question, { signal: stop });
      } finally {
        lines.close();
      }
    },
    readInput: () => text(stdin),
    keys(typed) {
      if (stdin.isTTY) stdin.setRawMode(true);
      stdin.on('data', typed);
      return () => {
        stdin.off('data', typed).pause();
        if (stdin.isTTY) stdin.setRawMode(false);
      };
    },
    environment,
    stop,
  };
}
