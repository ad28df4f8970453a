import { runClient } from '../../cli/main.ts';
import type { Terminal } from '../../cli/terminal/terminal.ts';
import { settingsHelp } from '../../src/config.ts';
import { ownCommands } from '../../src/start/command-line.ts';

export interface Ran {
  code: number;
  out: string;
  err: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was printed, and asserts on it.
  json: any;
}

export interface Typed {
  environment?: Record<string, string>;
  /** Standard input. */
  input?: string;
  /** What is typed when the command asks; nobody is there without it. */
  answer?: string;
  /** Types into a command that takes each key. */
  keys?(type: (keys: Buffer) => void): void;
  /** Of the terminal; none without it. */
  width?: number;
  stop?: AbortSignal;
  /** Called with each part of standard output. */
  onOut?(text: string): void;
}

/** Runs a command that asks a server, in this process. Words with spaces are in double quotes. */
export async function tradewind(line: string, typed: Typed = {}): Promise<Ran> {
  const { environment = {}, input, answer, keys, width, stop = new AbortController().signal, onOut } = typed;
  let [out, err] = ['', ''];
  const terminal: Terminal = {
    out(given) {
      const text = typeof given === 'string' ? given : Buffer.from(given).toString();
      out += text;
      onOut?.(text);
    },
    err(text) {
      err += text;
    },
    width,
    showsProgress: false,
    ask: async (question) => {
      err += question;
      return answer;
    },
    readInput: async () => input ?? '',
    keys(typed) {
      keys?.(typed);
      return () => {};
    },
    environment,
    stop,
  };
  const server = { commands: ownCommands(), settings: settingsHelp };
  const code = await runClient(wordsIn(line), { terminal, server, version: 'test' });
  return { code, out, err, json: /^[[{]/.test(out) ? parsed(out) : undefined };
}

export function wordsIn(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
