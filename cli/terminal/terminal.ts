/** What a command has of the process; main.ts fills it in. */
export interface Terminal {
  out(text: string | Uint8Array): void;
  err(text: string): void;
  /** Columns of the terminal that standard output is; undefined if it is none. */
  width: number | undefined;
  /** Whether standard error is a terminal, on which a line can be written again. */
  showsProgress: boolean;
  /** Shows a question and returns the line that is typed; undefined if there is nobody to ask. */
  ask(question: string): Promise<string | undefined>;
  /** All of standard input. */
  readInput(): Promise<string>;
  /** Passes on each key as it is typed, until the function that it returns is called. */
  keys(typed: (keys: Buffer) => void): () => void;
  environment: Readonly<Record<string, string | undefined>>;
  /** Aborted when the process is told to stop. */
  stop: AbortSignal;
}
